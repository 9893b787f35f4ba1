"""No other worker draws ahead with a source that costs money."""

import pytest

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext, BackendKind
from vlmlab.core.scenes.render.backends import EMBEDDED, SCENE_BACKENDS, load_backend
from vlmlab.core.scenes.scene import DrawsAhead, KeepsPaid

DRIVING = load_domain("driving")
FREE = BackendKind.__dataclass_fields__["picture_usd"].default
PAID = sorted(kind.name for kind in SCENE_BACKENDS.values() if kind.key_words or kind.picture_usd is not FREE)
SETTINGS = {"image_api": {"provider": "gemini", "model": "m"}}  # the least that loads each kind that is paid


def loaded(kind, cache_dir):
    params = SCENE_BACKENDS[kind].params.model_validate(SETTINGS.get(kind, {}))
    context = BackendContext(cache_dir=cache_dir, api_key="k")
    return load_backend(kind, DRIVING, params, context, width=64, height=48)


@pytest.mark.parametrize("kind", PAID)
def test_a_source_that_may_cost_money_is_never_drawn_ahead_with(kind, tmp_path):
    source = loaded(kind, tmp_path)

    assert not isinstance(source, DrawsAhead)
    assert isinstance(source, KeepsPaid)


def test_the_table_knows_which_sources_may_cost_money():
    assert PAID == ["image_api"]


def test_the_embedded_renderer_is_drawn_ahead_with(tmp_path):
    assert isinstance(loaded(EMBEDDED, tmp_path), DrawsAhead)
