"""A second system that looks at generated pictures: what counts as seen, what its calls cost."""

import pytest

from searches.models import SutRecord
from searches.services.presence_asking import forget_presence_sut, presence_check, says_true
from tests.doubles import paint_png
from tests.factories import make_sut
from vlmlab.core.errors import SourceAwayError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.recognition import statement_prompt
from vlmlab.core.suts.base import SutReply

pytestmark = pytest.mark.django_db
DRIVING = load_domain("driving")
PICTURE = paint_png((1, 2, 3), concepts=("cone",))


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    forget_presence_sut()


def looker(**params) -> SutRecord:
    cone = DRIVING.statements(("cone",), "cone")[0]
    rules = [{"prompt_contains": [cone], "answer": "1. T"}]
    return make_sut("looker", params={"default": "F", "rules": rules, "price_usd": 0.01} | params)


def test_a_concept_is_seen_where_its_statement_is_called_true():
    looking = looker()

    unseen = presence_check(looking)(PICTURE, DRIVING, ("cyclist", "cone"))

    looking.refresh_from_db()
    assert unseen == ("cyclist",)
    assert (looking.n_calls, looking.spend_usd) == (2, 0.02)


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("T", True),
        ("1. T", True),
        ("True.", True),
        ("F", False),
        ("1: False", False),
        ("", False),
        ("Maybe", False),
    ],
)
def test_only_a_clear_true_counts(text, is_true):
    assert says_true(SutReply(text, "stop")) is is_true


def test_the_question_names_the_entity_that_a_distance_changes():
    statement = DRIVING.statements(("cone", "far"), "far")[0]

    assert "{" not in statement_prompt(statement)


def test_a_system_that_is_switched_off_lets_the_source_wait():
    looking = looker()
    check = presence_check(looking)
    SutRecord.objects.update(is_enabled=False)

    with pytest.raises(SourceAwayError, match="is switched off"):
        check(PICTURE, DRIVING, ("cone",))


def test_a_system_that_does_not_answer_or_may_not_spend_more_lets_the_source_wait():
    failing = presence_check(looker(call_error_rate=1.0))
    with pytest.raises(SourceAwayError, match="does not answer"):
        failing(PICTURE, DRIVING, ("cone",))

    SutRecord.objects.all().delete()
    capped = presence_check(looker(price_usd=1.0, spend_cap_usd=0.5))
    with pytest.raises(SourceAwayError, match="The spending limit of Looker is reached"):
        capped(PICTURE, DRIVING, ("cone",))
