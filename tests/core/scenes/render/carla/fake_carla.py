"""A CARLA server on paper: records what it is told and refuses what a real one would get wrong silently.

Values are those of the real wheel (``carla.Transform``, ``carla.Map``, ``carla.WeatherParameters``, ...), and
the real ``carla.Map`` reads the OpenDRIVE text, so lanes, directions and landmarks come from CARLA's own
left-handed world. The blueprint library is the one that Scenic recorded from servers of its version. Its
cameras draw every actor as a filled box, nearest last.
"""

import fnmatch
import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import carla
import numpy as np
from scenic.simulators.carla import _blueprintData

from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION

TAGS = {"vehicle": 14, "walker": 12, "static": 20}
CAMERA_ATTRIBUTES = {"image_size_x", "image_size_y", "fov", "sensor_tick", "role_name"}
LANE_SLACK_M, LANE_SLACK_DEG = 1.0, 12.0


class RefusedError(AssertionError):
    """The server was told something that can only be a mistake."""


def library_ids():
    kinds = _blueprintData._IDS[CARLA_VERSION].values()
    sensors = ("sensor.camera.rgb", "sensor.camera.instance_segmentation", "sensor.other.collision")
    return {one for ids in kinds for one in ids} | {*sensors, "controller.ai.walker"}


class Blueprint:
    def __init__(self, blueprint_id):
        self.id = blueprint_id
        self.values = {}
        kind = blueprint_id.split(".")[0]
        self._names = {"role_name"}
        if kind == "sensor":
            self._names = CAMERA_ATTRIBUTES
        elif kind == "vehicle":
            self._names |= {"color", "sticky_control"}
        elif kind == "walker":
            self._names |= {"is_invincible", "speed", "use_wheelchair", "can_use_wheelchair"}

    def has_attribute(self, name):
        return name in self._names

    def set_attribute(self, name, value):
        if name not in self._names:
            raise RefusedError(f"{self.id} has no attribute {name}")
        if not isinstance(value, str):
            raise RefusedError(f"{name} takes a str, got {value!r}")
        if name == "fov" and not 20 <= float(value) <= 150:
            raise RefusedError(f"fov is in degrees, got {value}")
        self.values[name] = value


class Library:
    def __init__(self, server):
        self._server = server

    def find(self, blueprint_id):
        if blueprint_id not in self._server.blueprints:
            raise IndexError(f"blueprint '{blueprint_id}' not found")
        return Blueprint(blueprint_id)


class Actors(list):
    def filter(self, pattern):
        return Actors(one for one in self if fnmatch.fnmatch(one.type_id, pattern))


class Actor:
    def __init__(self, world, actor_id, blueprint, transform, parent=None):
        self.world, self.id, self.blueprint, self.parent = world, actor_id, blueprint, parent
        self.type_id = blueprint.id
        self.is_alive = True
        self.placed = transform
        self.reported = carla.Transform()  # until the next tick, as the real client in lockstep
        self.calls = []
        size = _blueprintData._DIMS[CARLA_VERSION].get(blueprint.id) or {}
        half = [size.get(side) or default for side, default in (("length", 1), ("width", 1), ("height", 1))]
        extent = carla.Vector3D(half[0] / 2, half[1] / 2, half[2] / 2)
        self.bounding_box = carla.BoundingBox(carla.Location(0, 0, extent.z), extent)

    def get_transform(self):
        return self.reported

    def get_location(self):
        return self.reported.location

    def get_velocity(self):
        return carla.Vector3D()

    get_angular_velocity = get_velocity

    def set_transform(self, transform):
        if transform.location.distance_2d(self.placed.location) > 0.05:
            raise RefusedError(f"{self.type_id} is moved sideways when it is put on the ground")
        if abs(math.remainder(transform.rotation.yaw - self.placed.rotation.yaw, 360)) > 1:
            raise RefusedError(f"{self.type_id} is turned when it is put on the ground")
        self.placed = transform

    def set_simulate_physics(self, enabled):
        self.calls.append(("physics", enabled))

    def apply_control(self, control):
        self.calls.append(("control", type(control).__name__))

    def stop(self):
        self.calls.append(("stop",))

    def destroy(self):
        if not self.is_alive:
            raise RuntimeError("trying to operate on a destroyed actor")
        self.is_alive = False
        self.world.actors.remove(self)
        return True


class Vehicle(Actor):
    """Rolls along its heading; brakes evenly, full at 7 m/s², and touches what it reaches."""

    speed, brake = 0.0, 0.0

    def set_target_velocity(self, velocity):
        yaw = math.radians(self.placed.rotation.yaw)
        self.speed = math.cos(yaw) * velocity.x + math.sin(yaw) * velocity.y
        if not 0 <= self.speed <= 40 or abs(math.hypot(velocity.x, velocity.y) - self.speed) > 0.1:
            raise RefusedError(f"the car does not roll ahead in m/s: {velocity}")

    def get_velocity(self):
        yaw = math.radians(self.placed.rotation.yaw)
        return carla.Vector3D(self.speed * math.cos(yaw), self.speed * math.sin(yaw), 0)

    def apply_control(self, control):
        super().apply_control(control)
        self.brake = control.brake

    def roll(self, step):
        self.speed = max(0.0, self.speed - self.brake * 7.0 * step)
        yaw, place = math.radians(self.placed.rotation.yaw), self.placed.location
        moved = carla.Location(
            place.x + math.cos(yaw) * self.speed * step, place.y + math.sin(yaw) * self.speed * step, place.z
        )
        self.placed = carla.Transform(moved, self.placed.rotation)

    def touched(self):
        front = self.bounding_box.extent.x
        for other in self.world.actors:
            if other is self or other.type_id.split(".")[0] not in TAGS:
                continue
            corners = other.bounding_box.get_world_vertices(other.placed)
            places = [in_front_of(self.placed, corner) for corner in corners]
            ahead, sides = min(one[1] for one in places), [one[0] for one in places]
            if 0 < ahead < front and min(sides) < 1 and max(sides) > -1:
                return other
        return None


class Walker(Actor):
    pass


class Camera(Actor):
    callback = None

    def listen(self, callback):
        self.callback = callback

    @property
    def mounted(self):
        """Where the camera is in the world: the pose of its car, then its own."""
        base, own = self.parent.placed, self.placed
        yaw = math.radians(base.rotation.yaw)
        x = base.location.x + math.cos(yaw) * own.location.x - math.sin(yaw) * own.location.y
        y = base.location.y + math.sin(yaw) * own.location.x + math.cos(yaw) * own.location.y
        rotation = carla.Rotation(pitch=own.rotation.pitch, yaw=base.rotation.yaw + own.rotation.yaw)
        return carla.Transform(carla.Location(x, y, base.location.z + own.location.z), rotation)

    def fire(self, frame):
        if self.callback is None or self.world.server.is_late(self, frame):
            return
        values = self.blueprint.values
        width, height, fov = int(values["image_size_x"]), int(values["image_size_y"]), float(values["fov"])
        pixels = self.world.drawn(self, width, height, fov)
        self.callback(
            SimpleNamespace(
                frame=frame, width=width, height=height, fov=fov, raw_data=memoryview(pixels.tobytes())
            )
        )


class CollisionSensor(Actor):
    callback = None

    def listen(self, callback):
        self.callback = callback


class Light:
    type_id = "traffic.traffic_light"

    def __init__(self, actor_id, landmark, world):
        self.id, self.landmark, self.world = actor_id, landmark, world
        self.state = carla.TrafficLightState.Green

    def get_transform(self):
        return self.landmark.transform

    def get_location(self):
        return self.landmark.transform.location

    def get_group_traffic_lights(self):
        return list(self.world.lights)

    def set_state(self, state):
        if not self.world.are_lights_frozen:
            raise RefusedError("a traffic light changes its state by itself unless all are frozen")
        self.state = state


class World:
    def __init__(self, server, name, xodr):
        self.server, self.name, self.xodr = server, name, xodr
        self.id = len(server.loaded)
        self.map = carla.Map(name, xodr)
        self.settings = carla.WorldSettings()
        self.actors, self.spawned, self.weather = Actors(), [], carla.WeatherParameters.ClearNoon
        self.frame, self.next_id, self.are_lights_frozen = 100, 40_000, False
        self.lights = [
            Light(70_000 + number, landmark, self)
            for number, landmark in enumerate(self.map.get_all_landmarks_of_type("1000001"))
        ]
        self.applied, self.light_states = [], []

    def get_map(self):
        return SimpleNamespace(
            to_opendrive=lambda: self.xodr, get_waypoint=self.map.get_waypoint, name=f"Carla/Maps/{self.name}"
        )

    def get_blueprint_library(self):
        return Library(self.server)

    def get_settings(self):
        return self.settings

    def apply_settings(self, settings):
        self.applied.append((settings.synchronous_mode, settings.fixed_delta_seconds))
        if settings.synchronous_mode and not 0.001 <= (settings.fixed_delta_seconds or 0) <= 0.1:
            raise RefusedError(f"a step is in seconds, at most 0.1, got {settings.fixed_delta_seconds}")

    def set_weather(self, weather):
        for name in ("cloudiness", "precipitation", "precipitation_deposits", "fog_density", "wetness"):
            if not 0 <= getattr(weather, name) <= 100:
                raise RefusedError(f"{name} is a percentage, got {getattr(weather, name)}")
        if not -90 <= weather.sun_altitude_angle <= 90:
            raise RefusedError(f"the sun's altitude is in degrees, got {weather.sun_altitude_angle}")
        self.weather = weather

    def get_weather(self):
        return self.weather

    def ground_projection(self, location, distance):
        near = self.map.get_waypoint(location, project_to_road=False, lane_type=carla.LaneType.Any)
        height = 0.15 if near is not None and near.lane_type == carla.LaneType.Sidewalk else 0.0
        return SimpleNamespace(location=carla.Location(location.x, location.y, height))

    def freeze_all_traffic_lights(self, frozen):
        self.are_lights_frozen = frozen

    def reset_all_traffic_lights(self):
        self.light_states = [(one.landmark.id, str(one.state)) for one in self.lights]

    def get_actors(self):
        return Actors([*self.actors, *self.lights])

    def get_traffic_lights_from_waypoint(self, waypoint, distance):
        if not 5 <= distance <= 200:
            raise RefusedError(f"lights are looked for within metres, got {distance}")
        ids = [one.id for one in waypoint.get_landmarks_of_type(distance, "1000001")]
        return [light for light in self.lights if light.landmark.id in ids and self.server.has_lights]

    def try_spawn_actor(self, blueprint, transform, attach_to=None):
        if blueprint.id in self.server.collides:
            return None
        return self.spawn_actor(blueprint, transform, attach_to=attach_to)

    def spawn_actor(self, blueprint, transform, attach_to=None):
        kind = blueprint.id.split(".")[0]
        if kind == "sensor" and blueprint.id.startswith("sensor.camera."):
            self._check_mount(transform)
        elif kind not in ("controller", "sensor"):
            self._check_place(blueprint, transform)
        classes = {"vehicle": Vehicle, "walker": Walker, "sensor": Camera}
        self.next_id += 1
        made = CollisionSensor if blueprint.id == "sensor.other.collision" else classes.get(kind, Actor)
        actor = made(self, self.next_id, blueprint, transform, attach_to)
        self.actors.append(actor)
        self.spawned.append(actor)
        return actor

    def _check_mount(self, transform):
        place, turn = transform.location, transform.rotation
        if not (-1 < place.x < 2 and abs(place.y) < 1 and 1 < place.z < 2.5):
            raise RefusedError(f"the camera is not on the car: {place}; metres?")
        if abs(turn.pitch) > 30 or abs(turn.yaw) > 30:
            raise RefusedError(f"the camera does not look ahead: {turn}")

    def _check_place(self, blueprint, transform):
        place, yaw = transform.location, transform.rotation.yaw
        if max(abs(place.x), abs(place.y)) > 200 or not -0.5 < place.z < 3:
            raise RefusedError(f"{blueprint.id} is outside the map: {place}; centimetres?")
        near = self.map.get_waypoint(place, lane_type=carla.LaneType.Driving)
        if blueprint.values.get("role_name") == "hero":
            lane = near.transform
            if lane.location.distance_2d(place) > LANE_SLACK_M:
                raise RefusedError(f"the car is {lane.location.distance_2d(place):.1f} m beside its lane")
            if abs(math.remainder(yaw - lane.rotation.yaw, 360)) > LANE_SLACK_DEG:
                raise RefusedError(f"the car faces {yaw:.1f}, its lane goes to {lane.rotation.yaw:.1f}")
            return
        hero = next((one for one in self.actors if one.blueprint.values.get("role_name") == "hero"), None)
        if hero is None:
            raise RefusedError("something is there before the car")
        right, ahead = in_front_of(hero.placed, place)
        if not (2 < ahead < 45 and -6 < right < 9):
            raise RefusedError(
                f"{blueprint.id} is not ahead of the car: {right:.1f} m right, {ahead:.1f} ahead"
            )

    def tick(self, seconds=10.0):
        if not self.settings.synchronous_mode:
            raise RefusedError("tick without lockstep")
        if self.server.is_down:
            raise RuntimeError("time-out of 10000ms while waiting for the simulator")
        self.frame += 1
        for actor in self.actors:
            if isinstance(actor, Vehicle):
                actor.roll(self.settings.fixed_delta_seconds)
            actor.reported = actor.mounted if isinstance(actor, Camera) else actor.placed
        for actor in list(self.actors):
            if isinstance(actor, Camera):
                actor.fire(self.frame)
            if isinstance(actor, CollisionSensor) and (other := actor.parent.touched()) is not None:
                actor.callback(SimpleNamespace(frame=self.frame, other_actor=other))
        return self.frame

    def drawn(self, camera, width, height, fov):
        """Return BGRA pixels: instance ids where the camera is one of instances, else one shade an actor."""
        is_instances = camera.type_id.endswith("instance_segmentation")
        pixels = np.full((height, width, 4), 255, np.uint8)
        pixels[:, :, :3] = (7, 3, 11) if is_instances else (200, 180, 120)
        for _, box, actor_id, tag in sorted(self._boxes(camera, width, height, fov), reverse=True):
            left, top, right, bottom = box
            shown = actor_id if self.server.writes_actor_ids else (actor_id * 7) % 65_536
            colour = (shown >> 8 & 0xFF, shown & 0xFF, tag) if is_instances else (actor_id % 251, 40, 90)
            pixels[max(0, top) : max(0, bottom), max(0, left) : max(0, right), :3] = colour
        return pixels

    def _boxes(self, camera, width, height, fov):
        mount = camera.mounted
        for actor in self.actors:
            kind = actor.type_id.split(".")[0]
            if actor is camera.parent or kind not in TAGS or actor.type_id in self.server.invisible:
                continue
            vertices = actor.bounding_box.get_world_vertices(actor.placed)
            box = _framed([(one.x, one.y, one.z) for one in vertices], mount, width, height, fov)
            if box is not None:
                yield mount.location.distance(actor.placed.location), box, actor.id & 0xFFFF, TAGS[kind]
        for light in self.lights:
            x, y = light.get_location().x, light.get_location().y
            corners = [(x + a, y + b, z) for a in (-0.4, 0.4) for b in (-0.4, 0.4) for z in (3.0, 5.0)]
            box = _framed(corners, mount, width, height, fov)
            if box is not None:
                yield mount.location.distance(light.get_location()), box, light.id & 0xFFFF, 7


def in_front_of(base, place):
    """Return metres to the right and ahead of a pose, in CARLA's left-handed world."""
    yaw = math.radians(base.rotation.yaw)
    dx, dy = place.x - base.location.x, place.y - base.location.y
    return -math.sin(yaw) * dx + math.cos(yaw) * dy, math.cos(yaw) * dx + math.sin(yaw) * dy


def _framed(points, mount, width, height, fov):
    yaw, pitch = math.radians(mount.rotation.yaw), math.radians(mount.rotation.pitch)
    offset = np.array(points) - (mount.location.x, mount.location.y, mount.location.z)
    forward = np.array([math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw), math.sin(pitch)])
    right = np.array([-math.sin(yaw), math.cos(yaw), 0])
    up = np.array([-math.sin(pitch) * math.cos(yaw), -math.sin(pitch) * math.sin(yaw), math.cos(pitch)])
    depth = offset @ forward
    if depth.min() < 0.2:
        return None
    focal = width / 2 / math.tan(math.radians(fov) / 2)
    u, v = width / 2 + focal * (offset @ right) / depth, height / 2 - focal * (offset @ up) / depth
    return round(u.min()), round(v.min()), round(u.max()), round(v.max())


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
