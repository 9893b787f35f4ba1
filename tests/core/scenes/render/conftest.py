"""A source of pictures over the server of paper, on a clock that only waiting moves on."""

from dataclasses import replace

import pytest

from tests.core.scenes.render.image_asking import DRIVING, Clock, settings_at
from tests.peers import openai_images as openai
from tests.peers.openai_chat import KEY as OPENAI_KEY
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api import ImageApiSource
from vlmlab.core.scenes.render.image_api_calls import PictureCalls
from vlmlab.core.scenes.render.image_api_openai import OpenAIImages


@pytest.fixture
def peer():
    with openai.openai_images_peer() as running:
        yield running


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def source_at(peer, clock):
    def make(*, context=None, domain=DRIVING, width=64, height=48, **values):
        params = settings_at(peer, **values)
        given = context or BackendContext()
        context = replace(given, network=peer.policy, api_key=OPENAI_KEY)
        provider = OpenAIImages(params, context)
        calls = PictureCalls(
            provider,
            params,
            should_stop=context.should_stop,
            on_progress=context.on_progress,
            clock=clock,
            sleep=clock.sleep,
        )
        return ImageApiSource(provider, domain, params, context, width=width, height=height, calls=calls)

    return make
