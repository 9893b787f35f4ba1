"""Settings, a clock and a set for the tests of image-generating models."""

from tests.peers import openai_images as openai
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.image_api_params import ImageApiParams

DRIVING = load_domain("driving")
SET = DRIVING.canonical(("light_red", "pedestrian"))
SIZE = {"width": 64, "height": 48}


class Clock:
    """A clock that only waiting moves on."""

    def __init__(self):
        self.now, self.waits = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.waits.append(seconds)


def settings_at(peer, **values):
    return ImageApiParams(
        **{
            "provider": "openai", "model": openai.MODEL, "base_url": f"{peer.url}/v1", "timeout_s": 60,
            "price_usd_per_picture": 0.04, **values,
        }
    )  # fmt: skip


def prompts(peer):
    return [asked.body["prompt"] for asked in peer.requests]
