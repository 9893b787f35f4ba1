"""The fixed measures of every kitchen, shared by what lays objects out and what draws the room.

Frame: metres, Z up. The back wall is the plane y = 0, the counter runs along it, the room lies at negative y
and the camera stands there looking towards +Y. x grows to the right.
"""

COUNTER_HEIGHT = 0.91
COUNTER_DEPTH = 0.62  # its front edge is at y = -COUNTER_DEPTH
SINK_X = -0.95
STOVE_X = 0.95
STOVE_HALF_WIDTH = 0.38
SINK_HALF_WIDTH = 0.45
ROOM_HALF_WIDTH = 2.6
ROOM_DEPTH = 4.5
ROOM_HEIGHT = 2.6
