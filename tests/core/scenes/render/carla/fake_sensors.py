"""Cameras and collision sensors of a CARLA server on paper; a camera draws every actor as a filled box."""

import math
from types import SimpleNamespace

import carla
import numpy as np

from tests.core.scenes.render.carla.fake_actors import TAGS, Actor


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
        pixels = drawn(self.world, self, width, height, fov)
        self.callback(
            SimpleNamespace(
                frame=frame, width=width, height=height, fov=fov, raw_data=memoryview(pixels.tobytes())
            )
        )


class CollisionSensor(Actor):
    callback = None

    def listen(self, callback):
        self.callback = callback


def drawn(world, camera, width, height, fov):
    """Return BGRA pixels: instance ids where the camera is one of instances, else one shade an actor."""
    is_instances = camera.type_id.endswith("instance_segmentation")
    pixels = np.full((height, width, 4), 255, np.uint8)
    pixels[:, :, :3] = (7, 3, 11) if is_instances else (200, 180, 120)
    for _, box, actor_id, tag in sorted(_boxes(world, camera, width, height, fov), reverse=True):
        left, top, right, bottom = box
        shown = actor_id if world.server.writes_actor_ids else (actor_id * 7) % 65_536
        colour = (shown >> 8 & 0xFF, shown & 0xFF, tag) if is_instances else (actor_id % 251, 40, 90)
        pixels[max(0, top) : max(0, bottom), max(0, left) : max(0, right), :3] = colour
    return pixels


def _boxes(world, camera, width, height, fov):
    mount = camera.mounted
    for actor in world.actors:
        kind = actor.type_id.split(".")[0]
        if actor is camera.parent or kind not in TAGS or actor.type_id in world.server.invisible:
            continue
        vertices = actor.bounding_box.get_world_vertices(actor.placed)
        box = _framed([(one.x, one.y, one.z) for one in vertices], mount, width, height, fov)
        if box is not None:
            yield mount.location.distance(actor.placed.location), box, actor.id & 0xFFFF, TAGS[kind]
    for light in world.lights:
        x, y = light.get_location().x, light.get_location().y
        corners = [(x + a, y + b, z) for a in (-0.4, 0.4) for b in (-0.4, 0.4) for z in (3.0, 5.0)]
        box = _framed(corners, mount, width, height, fov)
        if box is not None:
            yield mount.location.distance(light.get_location()), box, light.id & 0xFFFF, 7


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
