"""What stands in the world of a CARLA server on paper: blueprints, cars, walkers, and where they are."""

import fnmatch
import math

import carla
from scenic.simulators.carla import _blueprintData

from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION

TAGS = {"vehicle": 14, "walker": 12, "static": 20}
CAMERA_ATTRIBUTES = {"image_size_x", "image_size_y", "fov", "sensor_tick", "role_name"}


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


def in_front_of(base, place):
    """Return metres to the right and ahead of a pose, in CARLA's left-handed world."""
    yaw = math.radians(base.rotation.yaw)
    dx, dy = place.x - base.location.x, place.y - base.location.y
    return -math.sin(yaw) * dx + math.cos(yaw) * dy, math.cos(yaw) * dx + math.sin(yaw) * dy
