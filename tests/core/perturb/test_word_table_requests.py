"""A language model's table is asked for plainly, read strictly, and used as far as a person accepts it."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from vlmlab.core.perturb.word_table_requests import (
    MOST_ALTERNATIVES,
    MOST_LABELS,
    TableDraft,
    TableProposal,
    WordTableError,
    label_batches,
    read_table_reply,
    reviewed_table,
    table_prompt,
    with_decision,
    with_proposal,
)
from vlmlab.core.perturb.word_tables import Alternative, table_of

BASE = table_of(
    "synonym",
    {
        "cup": [Alternative(text="drinking cup", closeness="whole")],
        "bus": [Alternative(text="coach", closeness="whole")],
    },
)
STRANGE = ['5" disk', "élève d’à côté", "чашка", "カップ", "pair of “scissors”"]


def draft_of(**alternatives):
    return with_proposal(TableDraft(kind="synonym"), TableProposal(alternatives, {}), source="model")


def test_labels_without_an_entry_are_asked_for_in_groups_each_once():
    labels = ["cup", "knife", "Fork", "fork", "spoon"]

    assert label_batches(labels, BASE, batch_size=2) == [("knife", "fork"), ("spoon",)]
    assert label_batches(["cup"], BASE) == []
    with pytest.raises(ValueError, match=rf"batch_size must be in 1..{MOST_LABELS}, got 0"):
        label_batches(labels, BASE, batch_size=0)


@pytest.mark.parametrize("kind", ["homophone", "synonym"])
def test_the_request_names_the_labels_as_json_and_asks_for_one_object(kind):
    text = table_prompt(kind, STRANGE)

    assert json.loads(text.partition("Labels: ")[2]) == STRANGE
    assert text.count(f"{kind}s: ") == 1
    assert "one JSON object and nothing else" in text


@pytest.mark.parametrize("count", [0, MOST_LABELS + 1])
def test_too_few_and_too_many_labels_are_refused(count):
    with pytest.raises(ValueError, match=rf"number of labels must be in 1..{MOST_LABELS}, got {count}"):
        table_prompt("synonym", ["x"] * count)


@pytest.mark.parametrize("wrapped", ["{}", "```json\n{}\n```", "\n```\n{}\n```\n"])
def test_one_object_is_read_alone_or_in_a_fenced_block(wrapped):
    answer = wrapped.replace("{}", '{"cup": ["mug", " tea  cup "], "Knife": []}')

    read = read_table_reply(answer, ["Cup", "knife"])

    assert read == TableProposal({"Cup": ("mug", "tea cup"), "knife": ()}, {})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "The model's answer is not one JSON object."),
        ('Here it is: {"cup": ["mug"]}', "The model's answer is not one JSON object."),
        ('{"cup": ["mug"]} {"cup": []}', "The model's answer is not one JSON object."),
        ("[" * 100_000, "The model's answer is not one JSON object."),
        ("9" * 5_000, "The model's answer is not one JSON object."),
        ('["mug"]', "The model's answer is JSON, but no object."),
        ("null", "The model's answer is JSON, but no object."),
    ],
)
def test_anything_but_one_object_is_refused(answer, message):
    with pytest.raises(WordTableError) as caught:
        read_table_reply(answer, ["cup"])

    assert caught.value.message == message


def test_what_breaks_the_form_is_left_out_and_named():
    answer = json.dumps(
        {
            "cup": ["mug", "CUP", "", "MUG", 7, "a\u0000b", "12", "x" * 81],
            "bus": "coach",
            "tram": ["streetcar"],
        }
    )

    read = read_table_reply(answer, ["cup", "bus", "knife"])

    assert read.alternatives == {"cup": ("mug",)}
    assert read.problems == {
        "cup: CUP": "It is the label itself.",
        "cup: ": "It is empty.",
        "cup: 7": "It is not text.",
        "cup: a\u0000b": "It holds no letter, or a character that cannot be shown.",
        "cup: 12": "It holds no letter, or a character that cannot be shown.",
        "cup: " + "x" * 75: "It is longer than 80 characters.",
        "bus": "Its value is not a list.",
        "tram": "It was not asked for.",
        "knife": "The answer leaves it out.",
    }


def test_a_label_that_stands_twice_counts_once():
    read = read_table_reply('{"cup": ["mug"], "Cup": ["beaker"]}', ["cup"])

    assert read == TableProposal(
        {"cup": ("mug",)}, {"Cup": "It stands twice in the answer; the first counts."}
    )


def test_more_alternatives_than_were_asked_for_are_left_out():
    names = [f"name {letter}" for letter in "abcdefghij"]

    read = read_table_reply(json.dumps({"cup": names}), ["cup"])

    assert read.alternatives == {"cup": tuple(names[:MOST_ALTERNATIVES])}
    assert list(read.problems) == ["cup: name i", "cup: name j"]


@given(st.one_of(st.text(), st.dictionaries(st.text(), st.lists(st.text())).map(json.dumps)))
def test_any_text_is_read_or_refused(text):
    with suppress(WordTableError):
        read = read_table_reply(text, ["cup"])

        assert "cup" in {**read.alternatives, **read.problems}


def test_a_new_proposal_keeps_what_was_decided():
    draft = draft_of(cup=("mug", "goblet"))
    draft = with_decision(draft, "cup", text="mug", status="accepted")
    draft = with_decision(draft, "Cup", text="goblet", status="refused")

    again = with_proposal(draft, TableProposal({"CUP": ("Goblet", "beaker"), "bus": ()}, {}), source="other")

    assert [(one.text, one.status, one.source) for one in again.labels["cup"]] == [
        ("mug", "accepted", "model"),
        ("goblet", "refused", "model"),
        ("beaker", "proposed", "other"),
    ]
    assert again.labels["bus"] == ()


def test_a_decision_about_something_that_was_not_proposed_is_refused():
    with pytest.raises(WordTableError, match="“pail” was not proposed for “cup”"):
        with_decision(draft_of(cup=("mug",)), "cup", text="pail", status="accepted")


def test_only_accepted_alternatives_enter_the_table_and_replace_the_entry_of_the_base():
    draft = with_decision(
        draft_of(cup=("mug", "goblet"), bus=("lorry",)), "cup", text="mug", status="accepted"
    )

    table = reviewed_table(draft, base=BASE)

    assert table.alternatives("cup") == ("mug",)
    assert table.alternatives("bus") == ("coach",)
    assert table.entries["cup"][0].closeness == "generated"
    assert reviewed_table(draft).missing(["cup", "bus"]) == ("bus",)
    assert reviewed_table(draft, statuses=frozenset(("accepted", "proposed"))).alternatives("bus") == (
        "lorry",
    )


def test_a_base_of_the_other_kind_is_refused():
    with pytest.raises(ValueError, match="base must be a table of kind homophone, got synonym"):
        reviewed_table(TableDraft(kind="homophone"), base=BASE)


def test_a_draft_survives_being_stored_and_takes_no_unknown_field():
    draft = draft_of(cup=("mug",))

    assert TableDraft.model_validate_json(draft.model_dump_json()) == draft
    with pytest.raises(ValidationError, match="extra_forbidden"):
        TableDraft.model_validate({"kind": "synonym", "language": "en"})
