"""Where each thing of an anchor graph is drawn: the car below, the lane ahead, the sidewalk to its right.

What holds for the whole scene (town, weather) stands beside the car.
"""

from dataclasses import dataclass

from vlmlab.core.scenes.anchors import AnchorGraph, AnchorNode
from vlmlab.web.icons import GLYPHS

WIDTH = 304
BOX_WIDTH, BOX_HEIGHT = 140, 38
GAP = 10
LANE_X, SIDE_X = 76, 228
LEAST_HEIGHT = 216
FAR_METRES = 20.0


@dataclass(frozen=True)
class DrawnNode:
    """A box with its centre, glyph and two lines of text."""

    node: AnchorNode
    x: float
    y: float
    glyph: str
    line: str

    @property
    def left(self) -> float:
        """Left edge."""
        return self.x - BOX_WIDTH / 2

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
class AnchorDrawing:
    """A whole drawing in pixels of its own view box."""

    width: int
    height: int
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    sentence: str
    has_sidewalk: bool


def draw_anchors(graph: AnchorGraph) -> AnchorDrawing:
    """Return the drawing of a graph; boxes of one column never overlap."""
    lane = [node for node in graph.nodes if node.place in {"ego", "lane", "junction"}]
    side = [node for node in graph.nodes if node not in lane]
    tallest = max(len(lane), len(side))
    height = max(LEAST_HEIGHT, tallest * (BOX_HEIGHT + GAP) + GAP)
    placed: dict[str, DrawnNode] = {}
    for x, nodes in ((LANE_X, lane), (SIDE_X, side)):
        nearest_first = sorted(nodes, key=_metres)
        heights = _spread([_metres(one) for one in nearest_first], height)
        for node, y in zip(nearest_first, heights, strict=True):
            placed[node.id] = DrawnNode(node, x, y, GLYPHS.get(node.glyph, GLYPHS["prop"])[0], _line(node))
    edges = tuple(_edge(placed[one.source], placed[one.target], one.label) for one in graph.edges)
    sentence = ". ".join(edge.sentence for edge in edges) or "Nothing is asked for."
    has_sidewalk = any(node.place == "sidewalk" for node in side)
    return AnchorDrawing(WIDTH, height, tuple(placed.values()), edges, sentence, has_sidewalk)


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
