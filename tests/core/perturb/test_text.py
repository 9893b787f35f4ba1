"""Every text operator keeps the promises that all of them make, alone and together."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.perturb.text_cases import FOREIGN, FORMAT, PROMPT, Draws, rng
from vlmlab.core.perturb.text import TEXT_OPERATORS, perturb_text, text_operators
from vlmlab.core.perturb.text_operator import token_probability
from vlmlab.core.perturb.word_tables import Alternative, table_of

OPERATORS = pytest.mark.parametrize("operator", TEXT_OPERATORS.values(), ids=TEXT_OPERATORS)
ANY_OPERATOR = st.sampled_from(list(TEXT_OPERATORS.values()))
LABELLED = "Locate the person, the traffic cone and a bus. Then answer A or B. "
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from([PROMPT, LABELLED, *FOREIGN]), max_size=3).map(" ".join)
)
NAMES = (
    *("synonym", "homophone", "word_order", "filler", "politeness", "irrelevant_context"),
    *("distractor_instruction", "char_swap", "char_delete", "char_insert", "char_repeat", "keyboard_typo"),
    *("casing", "punctuation", "ocr_confusion"),
)


def test_the_fifteen_operators_act_in_their_order_under_their_names():
    assert tuple(TEXT_OPERATORS) == NAMES
    assert [operator.name for operator in TEXT_OPERATORS.values()] == list(NAMES)
    assert list(dict.fromkeys(operator.family for operator in TEXT_OPERATORS.values())) == [
        "wording",
        "additions",
        "spelling",
        "form",
    ]


@pytest.mark.parametrize(
    ("severity", "probability"), [(0.0, 0.0), (1e-9, 0.1), (0.25, 0.3), (0.5, 0.5), (1.0, 0.9)]
)
def test_the_probability_of_a_token_is_a_tenth_plus_four_fifths_of_the_severity(severity, probability):
    assert token_probability(severity) == pytest.approx(probability, abs=1e-8)


@OPERATORS
def test_the_parameter_is_the_probability_and_grows_with_the_severity(operator):
    values = [operator.parameter(step / 20) for step in range(21)]

    assert operator.parameter_name == "token_probability"
    assert values == sorted(set(values))
    assert values == [token_probability(step / 20) for step in range(21)]


@OPERATORS
@pytest.mark.parametrize("severity", [-0.01, 1.01, float("nan")])
def test_a_severity_outside_its_range_is_refused(operator, severity):
    with pytest.raises(ValueError, match=r"severity must lie in \[0, 1\]"):
        operator.apply(PROMPT, severity, rng())


@given(ANY_OPERATOR, TEXTS)
def test_severity_0_is_the_text_itself_without_a_draw(operator, text):
    generator = rng(7)

    assert operator.apply(text, 0.0, generator) == text
    assert generator.bit_generator.state == rng(7).bit_generator.state


@given(ANY_OPERATOR, TEXTS, st.floats(0, 1), st.integers(0, 9))
def test_the_same_generator_state_gives_the_same_text(operator, text, severity, seed):
    assert operator.apply(text, severity, rng(seed)) == operator.apply(text, severity, rng(seed))


@settings(max_examples=200)
@given(ANY_OPERATOR, TEXTS, st.data())
def test_protected_texts_stay_wherever_they_stand(operator, text, data):
    start = data.draw(st.integers(0, max(len(text) - 1, 0)))
    part = text[start : start + data.draw(st.integers(1, 30))]
    protect = [one for one in (part, "JSON", "traffic cone", ". ") if one]

    changed = operator.apply(text, 1.0, rng(), protect=protect)

    assert [one for one in protect if changed.count(one) < text.count(one)] == []


@given(ANY_OPERATOR, TEXTS)
def test_a_text_that_is_protected_as_a_whole_stands_whole_in_the_result(operator, text):
    if text:
        assert text in operator.apply(text, 1.0, rng(), protect=[text])


@OPERATORS
def test_the_share_of_touched_tokens_is_the_probability(operator):
    sentence = "Find it. " if operator.family == "additions" and operator.name != "filler" else "cup, "
    n_tokens = 2000
    text = (sentence * n_tokens).strip(" ,") if operator.name != "word_order" else "aa bb, " * n_tokens

    changed = operator.apply(text, 0.5, rng(11))

    assert touched(operator, text, changed, n_tokens) == pytest.approx(0.5, abs=0.05)


def touched(operator, text, changed, n_tokens):
    if operator.name == "politeness":
        return 1 - changed.count("Find it.") / n_tokens
    if operator.name in ("irrelevant_context", "distractor_instruction"):
        return (changed.count(".") - text.count(".")) / n_tokens
    if operator.name == "filler":
        return sum(part.strip(", ") != "" for part in changed.split("cup")) / n_tokens
    if operator.name == "word_order":
        return changed.count("bb aa") / n_tokens
    if operator.name == "punctuation":
        return 1 - changed.replace(",,", "#").split(" ").count("cup,") / n_tokens
    return 1 - sum(word.strip(",") == "cup" for word in changed.split(", ")) / n_tokens


@OPERATORS
@pytest.mark.parametrize("text", ["", " ", "a", "[]", "\x00", "🙂🙂", "ß", *FOREIGN])
def test_short_and_foreign_texts_are_handled(operator, text):
    changed = operator.apply(text, 1.0, rng(2))

    assert isinstance(changed, str)
    if not text.strip():
        assert changed == text


@OPERATORS
def test_a_text_of_ten_thousand_characters_is_handled_and_changed(operator):
    text = (LABELLED * 200)[:10_000]

    assert operator.apply(text, 1.0, rng()) != text


def test_a_strategy_acts_in_the_order_of_the_table_each_with_its_own_generator():
    asked = []

    def rng_of(name):
        asked.append(name)
        return rng(len(name))

    severities = {"ocr_confusion": 0.4, "synonym": 1.0, "filler": 0.0, "char_swap": 0.2}
    changed = perturb_text(LABELLED, severities, rng_of=rng_of)

    by_hand = LABELLED
    for name in ("synonym", "char_swap", "ocr_confusion"):
        by_hand = TEXT_OPERATORS[name].apply(by_hand, severities[name], rng(len(name)))
    assert asked == ["synonym", "char_swap", "ocr_confusion"]
    assert changed == by_hand


def test_a_strategy_without_severities_leaves_the_text():
    assert perturb_text(PROMPT, {}, rng_of=rng) == PROMPT
    assert perturb_text(PROMPT, dict.fromkeys(TEXT_OPERATORS, 0.0), rng_of=rng) == PROMPT


def test_a_strategy_of_all_operators_keeps_what_is_protected():
    changed = perturb_text(
        PROMPT, dict.fromkeys(TEXT_OPERATORS, 1.0), rng_of=lambda name: rng(len(name)), protect=[FORMAT]
    )

    assert FORMAT in changed
    assert changed != PROMPT


def test_other_tables_stand_in_for_the_shipped_ones_of_their_kinds():
    table = table_of("synonym", {"bus": [Alternative(text="double-decker", closeness="generated")]})
    operators = text_operators(table)

    changed = operators["synonym"].apply("bus, person", 1.0, Draws([0.0, 0.0], [0.0, 0.0]))
    assert changed == "double-decker, person"
    assert (
        perturb_text("bus", {"homophone": 1.0}, rng_of=lambda _name: Draws([0, 0]), operators=operators)
        == "buss"
    )
    assert list(operators) == list(TEXT_OPERATORS)
    assert text_operators() == TEXT_OPERATORS
    with pytest.raises(ValueError, match="tables must be of different kinds"):
        text_operators(table, table)


@OPERATORS
def test_an_operator_can_be_sent_to_another_process(operator):
    assert pickle.loads(pickle.dumps(operator)) == operator


def test_an_unknown_name_and_a_severity_out_of_range_are_refused():
    with pytest.raises(ValueError, match="severities names unknown text operators: shout"):
        perturb_text(PROMPT, {"shout": 0.5}, rng_of=rng)
    with pytest.raises(ValueError, match=r"severity must lie in \[0, 1\], got 2"):
        perturb_text(PROMPT, {"filler": 2.0}, rng_of=lambda _name: rng())
