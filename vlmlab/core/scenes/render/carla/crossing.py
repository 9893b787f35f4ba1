"""Our own OpenDRIVE map: one crossing of two-way streets with sidewalks and traffic lights.

``crossing.xodr`` beside this file is what ``crossing_xodr`` returns; a test holds them together.
"""

import math
from dataclasses import dataclass
from importlib import resources

ARM_M = 120.0
LANE_M = 3.5
SIDEWALK_M = 3.0
JUNCTION_M = 12.0  # from the middle of the crossing to where its arms begin
JUNCTION_ID = 100
_STRAIGHT, _LEFT, _RIGHT = 0, 90, -90


@dataclass(frozen=True)
class _Lane:
    """A lane: OpenDRIVE id, type, width, and the lanes of the roads before and after that it joins."""

    id: int
    kind: str
    width: float
    before: int | None = None
    after: int | None = None

    def xml(self) -> str:
        links = "".join(
            f'<{name} id="{other}"/>'
            for name, other in (("predecessor", self.before), ("successor", self.after))
            if other is not None
        )
        return (
            f'<lane id="{self.id}" type="{self.kind}" level="false"><link>{links}</link>'
            f'<width sOffset="0" a="{self.width:g}" b="0" c="0" d="0"/></lane>'
        )


def crossing_file() -> str:
    """Return the text of the map that comes with the package."""
    return resources.files(__package__).joinpath("crossing.xodr").read_text(encoding="utf-8")


def crossing_xodr() -> str:
    """Return the map as OpenDRIVE 1.4.

    Arm k (road k + 1) begins at the edge of the junction and points outwards at k * 90 degrees; traffic
    keeps to the right, so lane 1 leads into the junction and lane -1 out of it. Connecting roads have the
    ids 10 to 21: straight on, to the left and to the right from each arm.
    """
    arms = [_arm(number) for number in range(4)]
    roads, connections = [], []
    for index, (arm, turn) in enumerate(
        (arm, turn) for arm in range(4) for turn in (_STRAIGHT, _LEFT, _RIGHT)
    ):
        road_id = 10 + index
        target = (arm + 2 + turn // 90) % 4
        roads.append(_connecting_road(road_id, arm=arm, turn=turn, target=target))
        links = '<laneLink from="1" to="-1"/>' + ('<laneLink from="2" to="-2"/>' if turn == _RIGHT else "")
        connections.append(
            f'<connection id="{index}" incomingRoad="{arm + 1}" connectingRoad="{road_id}" '
            f'contactPoint="start">{links}</connection>'
        )
    controllers = [
        f'<controller id="{300 + arm}" name="arm {arm + 1}" sequence="{arm}">'
        f'<control signalId="{200 + arm}" type="0"/></controller>'
        for arm in range(4)
    ]
    references = "".join(f'<controller id="{300 + arm}" type="0" sequence="{arm}"/>' for arm in range(4))
    reach = ARM_M + JUNCTION_M
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<OpenDRIVE>",
        '<header revMajor="1" revMinor="4" name="crossing" version="1.00" date="2026-01-01T00:00:00" '
        f'north="{reach:g}" south="{-reach:g}" east="{reach:g}" west="{-reach:g}" vendor="VLM Lab">'
        "<geoReference><![CDATA[+proj=tmerc +lat_0=0 +lon_0=0]]></geoReference></header>",
        *arms,
        *roads,
        *controllers,
        f'<junction id="{JUNCTION_ID}" name="crossing">',
        *connections,
        f"{references}</junction>",
        "</OpenDRIVE>",
    ]
    return "\n".join(lines) + "\n"


def _arm(number: int) -> str:
    heading = number * math.pi / 2
    side = LANE_M + 0.7  # of the signal's pole: at the curb, right of the traffic that comes in
    signal = (
        f'<signals><signal id="{200 + number}" name="light {number + 1}" s="0.5" t="{side:g}" dynamic="yes" '
        'orientation="-" zOffset="0" country="OpenDRIVE" type="1000001" subtype="-1" value="-1" '
        'hOffset="0" pitch="0" roll="0" height="5" width="1">'
        '<validity fromLane="1" toLane="1"/></signal></signals>'
    )
    return _road(
        number + 1,
        name=f"arm {number + 1}",
        start=(JUNCTION_M * math.cos(heading), JUNCTION_M * math.sin(heading), heading),
        length=ARM_M,
        shape="<line/>",
        links=f'<predecessor elementType="junction" elementId="{JUNCTION_ID}"/>',
        left=(_Lane(2, "sidewalk", SIDEWALK_M), _Lane(1, "driving", LANE_M)),
        right=(_Lane(-1, "driving", LANE_M), _Lane(-2, "sidewalk", SIDEWALK_M)),
        extra=signal,
    )


def _connecting_road(road_id: int, *, arm: int, turn: int, target: int) -> str:
    heading = arm * math.pi / 2
    lanes = [_Lane(-1, "driving", LANE_M, before=1, after=-1)]
    if turn == _RIGHT:
        lanes.append(_Lane(-2, "sidewalk", SIDEWALK_M, before=2, after=-2))
    curvature = math.copysign(1 / JUNCTION_M, turn)
    return _road(
        road_id,
        name=f"from {arm + 1} to {target + 1}",
        start=(JUNCTION_M * math.cos(heading), JUNCTION_M * math.sin(heading), heading + math.pi),
        length=2 * JUNCTION_M if turn == _STRAIGHT else math.pi / 2 * JUNCTION_M,
        shape="<line/>" if turn == _STRAIGHT else f'<arc curvature="{curvature:.12g}"/>',
        links=f'<predecessor elementType="road" elementId="{arm + 1}" contactPoint="start"/>'
        f'<successor elementType="road" elementId="{target + 1}" contactPoint="start"/>',
        left=(),
        right=tuple(lanes),
        junction=JUNCTION_ID,
    )


def _road(
    road_id: int, *, name: str, start: tuple[float, float, float], length: float, shape: str, links: str,
    left: tuple[_Lane, ...], right: tuple[_Lane, ...], junction: int = -1, extra: str = "",
) -> str:  # fmt: skip
    x, y, heading = (round(value, 9) + 0.0 for value in start)
    sides = f"<left>{''.join(lane.xml() for lane in left)}</left>" if left else ""
    sides += '<center><lane id="0" type="none" level="false"/></center>'
    sides += f"<right>{''.join(lane.xml() for lane in right)}</right>"
    return (
        f'<road name="{name}" length="{length:.9g}" id="{road_id}" junction="{junction}">'
        f"<link>{links}</link>"
        '<type s="0" type="town"><speed max="30" unit="mph"/></type>'
        f'<planView><geometry s="0" x="{x:g}" y="{y:g}" hdg="{heading:.9g}" length="{length:.9g}">{shape}'
        "</geometry></planView>"
        '<elevationProfile><elevation s="0" a="0" b="0" c="0" d="0"/></elevationProfile>'
        f'<lateralProfile/><lanes><laneSection s="0">{sides}</laneSection></lanes>{extra}</road>'
    )
