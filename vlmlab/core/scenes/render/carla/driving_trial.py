"""Drives the car of a scene against what stands before it, with the brake of one action.

Import this module only to drive: it brings Scenic, pygame and the simulator's client.
"""

from dataclasses import dataclass
from typing import Any

import carla

from vlmlab.core.scenes.render.carla.simulation import (
    STEP_S,
    Order,
    StaticSimulation,
    StaticSimulator,
    simulated,
)

COLLISION_SENSOR = "sensor.other.collision"
STOPPED_MPS = 0.05


@dataclass(frozen=True)
class Drive:
    """How to drive: speed at the start in m/s, share of full braking in [0, 1], and for how long at most."""

    speed_mps: float
    brake_share: float
    seconds: float = 8.0


@dataclass(frozen=True)
class DriveOutcome:
    """What happened.

    Attributes:
        has_collided: whether the car touched anything.
        hit: the concept that it touched, or the type of another thing; "" for nothing.
        impact_mps: the car's speed one step before the first touch; 0 without one.
        travelled_m: how far the car came.
    """

    has_collided: bool
    hit: str
    impact_mps: float
    travelled_m: float


class DrivenSimulation(StaticSimulation):
    """Puts up a scene, takes its picture, and then drives."""

    def __init__(self, scene: Any, client: Any, order: Order, drive: Drive, **kwargs: Any) -> None:
        self.outcome: DriveOutcome | None = None
        self._drive_order = drive
        super().__init__(scene, client, order, **kwargs)

    def setup(self) -> None:
        """Photograph the scene, then drive."""
        super().setup()
        self.outcome = self._drive()

    def _drive(self) -> DriveOutcome:
        ego = self._ego_actor()
        touches: list[Any] = []
        sensor = self.world.spawn_actor(self.blueprintLib.find(COLLISION_SENSOR), carla.Transform(), ego)
        self._cameras.append(sensor)
        sensor.listen(touches.append)
        speed = self._drive_order.speed_mps
        start = ego.get_transform().location
        ahead = ego.get_transform().get_forward_vector()
        velocity = carla.Vector3D(ahead.x * speed, ahead.y * speed, 0.0)
        ego.set_target_velocity(velocity)
        for _ in range(round(self._drive_order.seconds / STEP_S)):
            before = _speed_of(ego)
            if self._drive_order.brake_share > 0:
                ego.apply_control(carla.VehicleControl(throttle=0.0, brake=self._drive_order.brake_share))
            else:
                ego.set_target_velocity(velocity)
            self.world.tick()
            if touches or (self._drive_order.brake_share > 0 and _speed_of(ego) < STOPPED_MPS):
                break
        travelled = ego.get_transform().location.distance(start)
        if not touches:
            return DriveOutcome(False, "", 0.0, round(travelled, 2))
        return DriveOutcome(
            True, self._name_of(touches[0].other_actor), round(before, 2), round(travelled, 2)
        )

    def _name_of(self, other: Any) -> str:
        for obj in self.objects:
            if obj.carlaActor is not None and obj.carlaActor.id == other.id:
                return str(obj.rolename)
        return str(other.type_id)


class DrivingTrialSimulator(StaticSimulator):
    """Scenic's simulator for one drive."""

    def __init__(self, client: Any, world: Any, order: Order, drive: Drive) -> None:
        super().__init__(client, world, order)
        self._drive_order = drive

    def createSimulation(  # noqa: N802 - Scenic's name
        self, scene: Any, *, timestep: Any, **kwargs: Any
    ) -> DrivenSimulation:
        """Return the simulation of a scene, which has run when this returns."""
        return DrivenSimulation(
            scene, self.client, self._order, self._drive_order, timestep=self.timestep, **kwargs
        )


def drive_scene(client: Any, world: Any, scene: Any, order: Order, drive: Drive) -> DriveOutcome:
    """Return what happens when the car of a sampled scene drives; nothing of it stays in the world.

    Raises:
        UnfitLayoutError, GenerationError, RuntimeError: as ``simulation.photograph``.
    """
    simulation = simulated(DrivingTrialSimulator(client, world, order, drive), scene)
    assert isinstance(simulation, DrivenSimulation)
    assert simulation.outcome is not None
    return simulation.outcome


def _speed_of(actor: Any) -> float:
    velocity = actor.get_velocity()
    return float((velocity.x**2 + velocity.y**2) ** 0.5)
