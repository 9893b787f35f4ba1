"""The page of operators on prompts."""

import pytest

from searches.forms.operators import OperatorTextForm
from tests.searches.pages.people import browser_of
from vlmlab.core.perturb.text import TEXT_OPERATORS
from vlmlab.core.perturb.text_summaries import TEXT_SUMMARIES
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db


def ask(**values):
    return browser_of(Role.REVIEWER).post("/operators/prompts/", {"prompt": "Locate the car.", **values})


def test_every_operator_on_prompts_is_described():
    assert set(TEXT_SUMMARIES) == set(TEXT_OPERATORS)


def test_the_first_look_shows_a_prompt_of_ours():
    page = browser_of(Role.REVIEWER).get("/operators/prompts/")

    strips = page.context["strips"]
    assert [strip.operator.name for strip in strips] == list(TEXT_OPERATORS)
    assert [one.probability for one in strips[0].prompts] == pytest.approx([0.26, 0.42, 0.58, 0.74, 0.9])
    assert not any(strip.is_idle for strip in strips)


def test_changes_are_marked_and_the_same_seed_makes_the_same():
    first, second, other = (ask(seed=seed, family="spelling") for seed in ("3", "3", "4"))

    def shown(answer):
        return [[one.diff.after for one in strip.prompts] for strip in answer.context["strips"]]

    assert shown(first) == shown(second)
    assert shown(first) != shown(other)
    assert "<ins>" in first.content.decode()
    assert "<del>" in first.content.decode()


def test_protected_words_stay():
    answer = ask(prompt="Locate the car. Answer in JSON.", protect="Answer in JSON.", family="form")

    changed = [one.diff.after for strip in answer.context["strips"] for one in strip.prompts]
    assert all("Answer in JSON." in text for text in changed)
    assert any(text != "Locate the car. Answer in JSON." for text in changed)


def test_markup_in_a_prompt_is_only_text():
    page = ask(prompt="<script>alert(1)</script> & <b>car</b>").content.decode()

    assert "<script>alert" not in page
    assert "<b>car" not in page


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"prompt": ""}, "prompt"),
        ({"prompt": "  \n "}, "prompt"),
        ({"prompt": "a" * 10_001}, "prompt"),
        ({"prompt": "a\x00b"}, "prompt"),
        ({"seed": "-1"}, "seed"),
        ({"seed": "1.5"}, "seed"),
        ({"seed": "nan"}, "seed"),
        ({"seed": str(2**63)}, "seed"),
        ({"family": "moon"}, "family"),
        ({"synonym_table": "none"}, "synonym_table"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(values, field):
    answer = ask(**values)

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert answer.context["form"]["prompt"].value() == values.get("prompt", "Locate the car.")


def test_a_line_end_of_a_browser_counts_as_one_character():
    form = OperatorTextForm({"prompt": "ab\r\n" * 3_333})

    assert form.is_valid()
    assert form.cleaned_data["prompt"] == "ab\n" * 3_333


@pytest.mark.parametrize("prompt", ["a " * 5_000, "犬 " * 3_000, "x" * 10_000, "'\"\\{}[]%s" * 1_000])
def test_a_long_prompt_is_shown_a_family_at_a_time(prompt):
    answer = ask(prompt=prompt)

    assert (answer.status_code, answer.context["is_cut"]) == (200, True)
    assert {strip.operator.family for strip in answer.context["strips"]} == {"wording"}
