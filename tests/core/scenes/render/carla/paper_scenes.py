"""Sets and sources of the scenes that the server on paper draws."""

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.scenes.render.carla.source import make_carla_source
from vlmlab.core.suts.network import policy_of

DRIVING = load_domain("driving")
NETWORK = policy_of(["127.0.0.1:2000"])
WIDTH, HEIGHT = 320, 240
ON_FOOT = ("pedestrian", "on_sidewalk", "far")
BIN = ("garbage_bin", "on_sidewalk")
AT_LIGHT = ("light_red", "cone")
CHAIR = ("wheelchair_pedestrian", "weather_hard_rain")


def carla_source(*, cache_dir=None, **changes):
    params = CarlaParams(**{"map": "crossing", "settle_ticks": 5, "timeout_s": 60, **changes})
    context = BackendContext(network=NETWORK, cache_dir=cache_dir)
    return make_carla_source(DRIVING, params, context, width=WIDTH, height=HEIGHT)


def generate(*ids, seed=3, **changes):
    return carla_source(**changes).generate(DRIVING.canonical(ids), seed=seed)


def spawned(server, prefix):
    return [actor for actor in server.world.spawned if actor.type_id.startswith(prefix)]
