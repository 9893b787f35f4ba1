"""A CARLA server on paper: records what it is told and refuses what a real one would get wrong silently.

Values are those of the real wheel (``carla.Transform``, ``carla.Map``, ``carla.WeatherParameters``, ...), and
the real ``carla.Map`` reads the OpenDRIVE text, so lanes, directions and landmarks come from CARLA's own
left-handed world. The blueprint library is the one that Scenic recorded from servers of its version. Its
cameras draw every actor as a filled box, nearest last.
"""

from dataclasses import dataclass, field

import carla

from tests.core.scenes.render.carla.fake_actors import RefusedError, library_ids
from tests.core.scenes.render.carla.fake_world import World


@dataclass
class Server:
    """The server behind every client.

    Attributes:
        is_down: it answers nothing; ``late``: camera type whose wanted frame never comes.
        collides, invisible: blueprint ids that cannot be spawned, or that its cameras do not show.
        writes_actor_ids: as 0.9.16 does; before, the ids of the engine stand in the pictures.
    """

    answers_as: str = "0.9.16"
    maps: tuple = ("/Game/Carla/Maps/Town01", "/Game/Carla/Maps/Town02")
    town_xodr: str = ""
    is_down: bool = False
    late: str = ""
    collides: set = field(default_factory=set)
    invisible: set = field(default_factory=set)
    writes_actor_ids: bool = True
    has_lights: bool = True
    world: World | None = None
    loaded: list = field(default_factory=list)
    blueprints: set = field(default_factory=set)

    def __post_init__(self):
        self.blueprints = self.blueprints or library_ids()

    def is_late(self, camera, frame):
        return camera.type_id == self.late and frame > 104

    def client(self, host, port):
        return Client(self, host, port)


class Client:
    def __init__(self, server, host, port):
        self.server = server

    def set_timeout(self, seconds):
        if not 0.5 <= seconds <= 300:
            raise RefusedError(f"a timeout is in seconds, got {seconds}")

    def get_server_version(self):
        self._answer()
        return self.server.answers_as

    def get_available_maps(self):
        return list(self.server.maps)

    def load_world(self, name):
        self._answer()
        self.server.loaded.append(name)
        self.server.world = World(self.server, name, self.server.town_xodr)
        return self.server.world

    def generate_opendrive_world(self, xodr, parameters):
        self._answer()
        assert isinstance(parameters, carla.OpendriveGenerationParameters)
        self.server.loaded.append("OpenDriveMap")
        self.server.world = World(self.server, "OpenDriveMap", xodr)
        return self.server.world

    def get_world(self):
        self._answer()
        return self.server.world

    def _answer(self):
        if self.server.is_down:
            raise RuntimeError("time-out of 2000ms while waiting for the simulator")
