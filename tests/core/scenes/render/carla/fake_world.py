"""The world of a CARLA server on paper: its map, weather, lights and ticks, and what it refuses."""

import math
from types import SimpleNamespace

import carla

from tests.core.scenes.render.carla.fake_actors import (
    Actor,
    Actors,
    Library,
    RefusedError,
    Vehicle,
    Walker,
    in_front_of,
)
from tests.core.scenes.render.carla.fake_sensors import Camera, CollisionSensor

LANE_SLACK_M, LANE_SLACK_DEG = 1.0, 12.0


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
