"""One static scene in CARLA: Scenic's own simulator spawns it, we set the lights and take the pictures.

Scenic's ``CarlaSimulation`` is used for what it knows: its frame, blueprints, weather and spawning. Three of
its habits do not suit a picture and are replaced: it connects and loads a map for each simulator, it waits
for sensors without end, and its clean-up stops at the first error. Import this module only to draw: it
brings Scenic, pygame and the simulator's client.
"""

import queue
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import carla
import numpy as np
from scenic.core.simulators import SimulationCreationError, Simulator
from scenic.simulators.carla.simulator import CarlaSimulation, CarlaSimulator
from scenic.simulators.carla.utils import utils as scenic_utils

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION
from vlmlab.core.scenes.render.carla.frames import CarlaPose
from vlmlab.core.scenes.render.carla.shots import (
    ActorSeen,
    Shot,
    camera_points,
    decode_colours,
    decode_instances,
)

STEP_S = 0.05
LIGHT_REACH_M = 60.0  # how far ahead along the lane a traffic light may be
DARK_REACH_M = 90.0  # lights nearer than this go dark where no concept asks for one
GROUND_SEARCH_M = 3.0
COLOUR_CAMERA, INSTANCE_CAMERA = "sensor.camera.rgb", "sensor.camera.instance_segmentation"


class UnfitLayoutError(Exception):
    """This layout cannot be shown here; another may. The text says why, in one phrase."""


@dataclass(frozen=True)
class Order:
    """What to photograph.

    Attributes:
        mount: where the camera is fixed to the car.
        fov: horizontal, in degrees.
        width, height: of the pictures.
        light: ``red``, ``green``, or "" for dark lights.
        light_concept: the concept that the light stands for.
        attributes: concept -> blueprint attributes that it needs.
        settle_ticks: steps before the picture.
        timeout_s: seconds to wait for a camera.
    """

    mount: CarlaPose
    fov: float
    width: int
    height: int
    light: str
    light_concept: str
    attributes: Mapping[str, Mapping[str, str]]
    settle_ticks: int
    timeout_s: float


class _Library:
    """The blueprint library of a world; it sets what the object in hand needs and names what is missing."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.attributes: Mapping[str, str] = {}

    def find(self, blueprint_id: str) -> Any:
        try:
            blueprint = self._library.find(blueprint_id)
        except IndexError as error:
            raise GenerationError(
                f"The CARLA server has no blueprint {blueprint_id}.",
                hint=f"Start a server of version {CARLA_VERSION}, built with the additional props.",
            ) from error
        if blueprint_id.startswith(("walker.", "vehicle.", "static.")):
            for name, value in self.attributes.items():
                _set_attribute(blueprint, name, value)
        return blueprint


class StaticSimulator(CarlaSimulator):
    """Scenic's simulator on a client and a world that are there, for scenes in which nothing moves."""

    def __init__(self, client: Any, world: Any, order: Order) -> None:
        Simulator.__init__(self)  # not CarlaSimulator's: it would connect and load the map again
        self.client, self.world, self._order = client, world, order
        self.timestep = STEP_S

    def createSimulation(  # noqa: N802 - Scenic's name
        self, scene: Any, *, timestep: Any, **kwargs: Any
    ) -> "StaticSimulation":
        """Return the simulation of a scene, which has run when this returns."""
        return StaticSimulation(scene, self.client, self._order, timestep=self.timestep, **kwargs)

    def destroy(self) -> None:
        """Do not touch the world; whoever holds the connection puts it back."""
        Simulator.destroy(self)


class StaticSimulation(CarlaSimulation):
    """Spawns a scene, lets it settle, takes one frame, and removes all that it brought."""

    def __init__(self, scene: Any, client: Any, order: Order, **kwargs: Any) -> None:
        self.shot: Shot | None = None
        self._order = order
        self._cameras: list[Any] = []
        self.agents: list[Any] = []  # Scenic's clean-up reads it even where its set-up did not get that far
        super().__init__(scene, client, None, False, "", 0, **kwargs)

    def setup(self) -> None:
        """Spawn everything, set the lights, and take the pictures."""
        self.blueprintLib: Any = _Library(self.world.get_blueprint_library())
        super().setup()
        light = self._set_lights()
        self.shot = self._photograph(light)

    def createObjectInSimulator(self, obj: Any) -> Any:  # noqa: N802 - Scenic's name
        """Spawn one object; things without physics are put on the ground under them."""
        self.blueprintLib.attributes = self._order.attributes.get(obj.rolename, {})
        here = carla.Location(obj.position.x, -obj.position.y, 1.0)
        ground = self.world.ground_projection(here, GROUND_SEARCH_M)
        actor = super().createObjectInSimulator(obj)
        self.blueprintLib.attributes = {}
        if ground is not None and not obj.physics:
            # Scenic puts things at the height of the nearest lane, which is not that of a sidewalk.
            here.z = ground.location.z
            rotation = scenic_utils.scenicToCarlaRotation(obj.orientation)
            actor.set_transform(carla.Transform(here, rotation))
        return actor

    def destroy(self) -> None:
        """Remove every actor, whatever fails on the way, and let the traffic lights run again."""
        for camera in self._cameras:
            with suppress(RuntimeError):
                camera.stop()
            with suppress(RuntimeError):
                camera.destroy()
        for obj in self.objects:
            for actor in (getattr(obj, "carlaController", None), obj.carlaActor):
                if actor is not None:
                    with suppress(RuntimeError):
                        actor.destroy()
        with suppress(RuntimeError):
            self.world.freeze_all_traffic_lights(False)
        with suppress(RuntimeError):
            self.world.reset_all_traffic_lights()
        with suppress(RuntimeError):
            self.world.tick()

    def _set_lights(self) -> Any:
        """Show the ordered colour to the car's lane and red to all others, or darken every light near."""
        place = self._ego_location()
        self.world.freeze_all_traffic_lights(True)
        if not self._order.light:
            for light in self.world.get_actors().filter("traffic.traffic_light*"):
                if light.get_location().distance(place) < DARK_REACH_M:
                    light.set_state(carla.TrafficLightState.Off)
            return None
        lights = self.world.get_traffic_lights_from_waypoint(self.map.get_waypoint(place), LIGHT_REACH_M)
        if not lights:
            raise UnfitLayoutError("no traffic light hangs before the junction")
        light = lights[0]
        for member in light.get_group_traffic_lights():
            member.set_state(carla.TrafficLightState.Red)
        colour = (
            carla.TrafficLightState.Green if self._order.light == "green" else carla.TrafficLightState.Red
        )
        light.set_state(colour)
        return light

    def _ego_location(self) -> Any:
        position = self.scene.egoObject.position
        return carla.Location(position.x, -position.y, 0.0)

    def _photograph(self, light: Any) -> Shot:
        order = self._order
        mount = carla.Transform(
            carla.Location(order.mount.x, order.mount.y, order.mount.z),
            carla.Rotation(pitch=order.mount.pitch, yaw=order.mount.yaw, roll=0.0),
        )
        pictures = [self._camera(name, mount) for name in (COLOUR_CAMERA, INSTANCE_CAMERA)]
        for _ in range(order.settle_ticks):
            self.world.tick()
        frame = int(self.world.tick())
        colours, instances = (_picture_of(frame, arrived, order.timeout_s) for arrived in pictures)
        tags, ids = decode_instances(
            bytes(instances.raw_data), width=instances.width, height=instances.height
        )
        return Shot(
            image=decode_colours(bytes(colours.raw_data), width=colours.width, height=colours.height),
            tags=tags,
            instances=ids,
            actors=tuple(self._actors_seen(light)),
            fov=order.fov,
            frame=frame,
            weather=str(self.world.get_weather()),
        )

    def _ego_actor(self) -> Any:
        return next(obj.carlaActor for obj in self.objects if obj is self.scene.egoObject)

    def _camera(self, name: str, mount: Any) -> "queue.Queue[Any]":
        blueprint = self.blueprintLib.find(name)
        order = self._order
        for attribute, value in (
            ("image_size_x", str(order.width)),
            ("image_size_y", str(order.height)),
            ("fov", str(order.fov)),
        ):
            _set_attribute(blueprint, attribute, value)
        camera = self.world.spawn_actor(blueprint, mount, attach_to=self._ego_actor())
        self._cameras.append(camera)
        arrived: queue.Queue[Any] = queue.Queue()
        camera.listen(arrived.put)
        return arrived

    def _actors_seen(self, light: Any) -> Iterator[ActorSeen]:
        world_to_camera = np.array(self._cameras[0].get_transform().get_inverse_matrix(), np.float64)
        for obj in self.objects:
            if obj is self.scene.egoObject:
                continue
            transform = obj.carlaActor.get_transform()
            vertices = obj.carlaActor.bounding_box.get_world_vertices(transform)
            points = np.array([(one.x, one.y, one.z) for one in vertices], np.float64)
            yield _seen(obj.rolename, obj.carlaActor, transform, camera_points(points, world_to_camera))
        if light is not None:
            yield _seen(self._order.light_concept, light, light.get_transform(), np.zeros((0, 3)))


def photograph(client: Any, world: Any, scene: Any, order: Order) -> Shot:
    """Return one frame of a sampled scene; nothing of it stays in the world.

    Raises:
        UnfitLayoutError: this layout cannot be put into the world.
        GenerationError: the server lacks a blueprint, or a camera is late.
        RuntimeError: the client lost the server.
    """
    simulation = simulated(StaticSimulator(client, world, order), scene)
    assert simulation.shot is not None
    return simulation.shot


def simulated(simulator: StaticSimulator, scene: Any) -> StaticSimulation:
    """Return a simulation that has run.

    Raises:
        UnfitLayoutError: the scene cannot be put into the world.
    """
    try:
        simulation = simulator.simulate(scene, enableReplay=False, verbosity=0)
    except SimulationCreationError as error:
        raise UnfitLayoutError("two things collide when they are put into the world") from error
    finally:
        simulator.destroy()
    if not isinstance(simulation, StaticSimulation):
        raise UnfitLayoutError("Scenic gave the scene up")
    return simulation


def _seen(concept: str, actor: Any, transform: Any, corners: Any) -> ActorSeen:
    place = transform.location
    pose = (round(place.x, 3), round(place.y, 3), round(place.z, 3), round(transform.rotation.yaw, 2))
    return ActorSeen(str(concept), int(actor.id), corners, pose)


def _picture_of(frame: int, arrived: "queue.Queue[Any]", timeout_s: float) -> Any:
    """Return the picture of a frame; older ones are dropped.

    Raises:
        GenerationError: it does not come in time, or was left out.
    """
    while True:
        try:
            picture = arrived.get(timeout=timeout_s)
        except queue.Empty:
            raise _late(frame) from None
        if picture.frame == frame:
            return picture
        if picture.frame > frame:
            raise _late(frame)


def _late(frame: int) -> GenerationError:
    return GenerationError(
        f"A camera of the CARLA server did not deliver frame {frame}.",
        hint="Let no other program step the same server, and give it more time in the picture source.",
    )


def _set_attribute(blueprint: Any, name: str, value: str) -> None:
    if not blueprint.has_attribute(name):
        raise GenerationError(
            f"The blueprint {blueprint.id} of the CARLA server has no attribute {name}.",
            hint=f"Start a server of version {CARLA_VERSION}.",
        )
    blueprint.set_attribute(name, value)
