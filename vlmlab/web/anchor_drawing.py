"""Where each thing of an anchor graph is drawn.

On a road: the car below, the lane ahead, the sidewalk to its right; what holds for the whole scene (town,
weather) stands beside the car. In a room: one band a place, from the back wall to the floor in front.
"""

from dataclasses import dataclass

from vlmlab.core.scenes.anchors import ROOM_PLACES, AnchorGraph, AnchorNode
from vlmlab.web.icons import GLYPHS

WIDTH = 304
BOX_WIDTH, BOX_HEIGHT = 140, 38
GAP = 10
LANE_X, SIDE_X = 76, 228
LEAST_HEIGHT = 216
FAR_METRES = 20.0
BAND_HEAD = 20
ROOM_BOX_WIDTH = WIDTH - 12


@dataclass(frozen=True)
class DrawnNode:
    """A box with its centre, glyph and two lines of text."""

    node: AnchorNode
    x: float
    y: float
    glyph: str
    line: str
    width: float = BOX_WIDTH

    @property
    def left(self) -> float:
        """Left edge."""
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        """Upper edge."""
        return self.y - BOX_HEIGHT / 2


@dataclass(frozen=True)
class DrawnEdge:
    """A line from one box to another; ``sentence`` says what it means."""

    x1: float
    y1: float
    x2: float
    y2: float
    sentence: str


@dataclass(frozen=True)
class DrawnBand:
    """A place of a room: a strip with its name, in which its things stand."""

    top: float
    height: float
    label: str

    @property
    def baseline(self) -> float:
        """Where the name stands."""
        return self.top + 14


@dataclass(frozen=True)
class AnchorDrawing:
    """A whole drawing in pixels of its own view box; ``bands`` are the places of a room."""

    width: int
    height: int
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    sentence: str
    has_lane: bool = False
    has_sidewalk: bool = False
    bands: tuple[DrawnBand, ...] = ()


def draw_anchors(graph: AnchorGraph) -> AnchorDrawing:
    """Return the drawing of a graph; boxes never overlap."""
    is_road = any(node.place == "ego" for node in graph.nodes)
    return _draw_road(graph) if is_road else _draw_room(graph)


def _draw_road(graph: AnchorGraph) -> AnchorDrawing:
    lane = [node for node in graph.nodes if node.place in {"ego", "lane", "junction"}]
    side = [node for node in graph.nodes if node not in lane]
    tallest = max(len(lane), len(side))
    height = max(LEAST_HEIGHT, tallest * (BOX_HEIGHT + GAP) + GAP)
    placed: dict[str, DrawnNode] = {}
    for x, nodes in ((LANE_X, lane), (SIDE_X, side)):
        nearest_first = sorted(nodes, key=_metres)
        heights = _spread([_metres(one) for one in nearest_first], height)
        for node, y in zip(nearest_first, heights, strict=True):
            placed[node.id] = _drawn(node, x, y)
    edges = tuple(_edge(placed[one.source], placed[one.target], one.label) for one in graph.edges)
    sentence = ". ".join(edge.sentence for edge in edges) or "Nothing is asked for."
    has_sidewalk = any(node.place == "sidewalk" for node in side)
    return AnchorDrawing(
        WIDTH,
        height,
        tuple(placed.values()),
        edges,
        sentence,
        has_lane=True,
        has_sidewalk=has_sidewalk,
    )


def _draw_room(graph: AnchorGraph) -> AnchorDrawing:
    """One band a place; the second line of a box says how it stands to another thing."""
    company = {edge.target: edge.label for edge in graph.edges if edge.source != "room"}
    placed: list[DrawnNode] = []
    bands: list[DrawnBand] = []
    top = 0.0
    for place in _places(graph):
        nodes = [node for node in graph.nodes if node.place == place]
        head = BAND_HEAD if place != "room" else GAP / 2
        height = head + len(nodes) * (BOX_HEIGHT + GAP)
        for index, node in enumerate(nodes):
            y = top + head + index * (BOX_HEIGHT + GAP) + BOX_HEIGHT / 2
            glyph = GLYPHS.get(node.glyph, GLYPHS["prop"])[0]
            line = company.get(node.id) or _line(node)
            placed.append(DrawnNode(node, WIDTH / 2, y, glyph, line, width=ROOM_BOX_WIDTH))
        if place != "room":
            bands.append(DrawnBand(top, height, _band_label(place)))
        top += height
    labels = {node.id: node.label for node in graph.nodes}
    sentence = ". ".join(f"{labels[edge.target]}: {edge.label}" for edge in graph.edges)
    return AnchorDrawing(WIDTH, round(top), tuple(placed), (), sentence, bands=tuple(bands))


def _places(graph: AnchorGraph) -> list[str]:
    """Return the places of a graph in the order in which they are drawn."""
    order = ["room", "scene", *ROOM_PLACES]
    found = dict.fromkeys(node.place for node in graph.nodes)
    return [place for place in order if place in found] + [place for place in found if place not in order]


def _band_label(place: str) -> str:
    words = "the whole scene" if place == "scene" else ROOM_PLACES.get(place, place.replace("_", " "))
    return (words or "in the scene").capitalize()


def _drawn(node: AnchorNode, x: float, y: float) -> DrawnNode:
    return DrawnNode(node, x, y, GLYPHS.get(node.glyph, GLYPHS["prop"])[0], _line(node))


def _metres(node: AnchorNode) -> float:
    """Return how far ahead a box belongs; the car and what holds for the whole scene stand at 0."""
    if node.place in {"ego", "scene"}:
        return 0.0
    return sum(node.distance_m) / 2 if node.distance_m is not None else FAR_METRES


def _spread(metres: list[float], height: int) -> list[float]:
    """Return heights for ascending distances: as measured, pushed apart so that no two boxes overlap."""
    step = BOX_HEIGHT + GAP
    lowest, highest = height - BOX_HEIGHT / 2 - GAP / 2, BOX_HEIGHT / 2 + GAP / 2
    places: list[float] = []
    for index, metre in enumerate(metres):
        wished = lowest - min(metre, FAR_METRES) / FAR_METRES * (lowest - highest)
        place = min(wished, places[-1] - step) if places else wished
        # Leave room above for the boxes still to come.
        places.append(max(place, highest + (len(metres) - 1 - index) * step))
    return places


def _line(node: AnchorNode) -> str:
    """Return the second line of a box: modifiers and distance."""
    words = list(node.modifiers)
    if node.distance_m is not None:
        words.append(f"{node.distance_m[0]:g}–{node.distance_m[1]:g} m")
    if node.is_implied:
        words.append("implied")
    return ", ".join(words)


def _edge(source: DrawnNode, target: DrawnNode, label: str) -> DrawnEdge:
    return DrawnEdge(
        source.x, source.y, target.x, target.y, f"{source.node.label} to {target.node.label}: {label}"
    )
