"""Where each thing of an anchor graph is drawn: the car below, the lane ahead, the sidewalk to its right."""

from dataclasses import dataclass

from vlmlab.core.scenes.anchors import AnchorGraph, AnchorNode
from vlmlab.web.icons import GLYPHS

WIDTH = 480
TOP, BOTTOM = 20, 208
BOX_WIDTH, BOX_HEIGHT = 138, 38
COLUMNS = {"scene": 80, "lane": 240, "ego": 240, "junction": 240, "sidewalk": 400}
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


def draw_anchors(graph: AnchorGraph) -> AnchorDrawing:
    """Return the drawing of a graph; boxes of one column never overlap."""
    columns: dict[str, list[AnchorNode]] = {}
    for node in graph.nodes:
        column = "lane" if node.place in {"ego", "junction"} else node.place
        columns.setdefault(column, []).append(node)
    tallest = max(len(nodes) for nodes in columns.values())
    height = max(232, tallest * (BOX_HEIGHT + 10) + 24)
    placed: dict[str, DrawnNode] = {}
    for column, nodes in columns.items():
        wishes = sorted(nodes, key=_metres)
        for node, y in zip(wishes, _spread([_metres(one) for one in wishes], height), strict=True):
            x = COLUMNS.get(column, COLUMNS["scene"])
            placed[node.id] = DrawnNode(node, x, y, GLYPHS.get(node.glyph, GLYPHS["prop"])[0], _line(node))
    edges = tuple(_edge(placed[one.source], placed[one.target], one.label) for one in graph.edges)
    sentence = ". ".join(edge.sentence for edge in edges) or "Nothing is asked for."
    return AnchorDrawing(WIDTH, height, tuple(placed.values()), edges, sentence)


def _metres(node: AnchorNode) -> float:
    """Return how far ahead a box belongs; conditions of the whole scene hang at the top."""
    if node.place == "ego":
        return 0.0
    if node.distance_m is not None:
        return sum(node.distance_m) / 2
    return FAR_METRES


def _spread(metres: list[float], height: int) -> list[float]:
    """Return heights for ascending distances: as measured, pushed apart so that no two boxes overlap."""
    step = BOX_HEIGHT + 10
    lowest, highest = height - BOX_HEIGHT / 2 - 6, BOX_HEIGHT / 2 + 6
    span = lowest - highest
    places: list[float] = []
    for index, metre in enumerate(metres):
        wished = lowest - min(metre, FAR_METRES) / FAR_METRES * span
        places.append(min(wished, places[-1] - step) if places else wished)
        # Leave room above for the boxes still to come.
        room = highest + (len(metres) - 1 - index) * step
        places[-1] = max(places[-1], room)
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
