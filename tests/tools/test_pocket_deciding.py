"""Questions about decisions: the right letter in every wording, and dangers that are not in a picture."""

from dataclasses import replace

import pytest

from tests.tools.pocket_parts import record
from tools.pocket.deciding import (
    SPEECH,
    answered_as,
    denied_rules,
    draw_decision,
    every_question,
    reason_sentence,
)
from tools.pocket.labelling import label_of
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.seeding import rng_for

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")
RECORDS = {
    "emergency_stop": record("driving", "cone"),
    "slow_down": record("driving", "cone", "far"),
    "continue": record("driving", "light_green"),
}


def texts_of(domain, action):
    """Return every text that an option of an action may have."""
    spoken = SPEECH[domain.slug][action]
    return {domain.option_texts[action], *spoken, *(text[:1].upper() + text[1:] for text in spoken)}


def actions_meant(domain, option):
    """Return the actions that an option's text, without letter and layout, could mean."""
    bare = option.strip(" \n,")
    bare = bare.removeprefix("(")
    if len(bare) > 2 and bare[0] in "ABCD" and bare[1] in ").:":
        bare = bare[2:].strip(" ,")
    return {action for action in domain.actions if bare in texts_of(domain, action)}


@pytest.mark.parametrize("action", list(RECORDS))
def test_the_letter_of_a_driving_decision_is_the_one_of_the_right_option_in_any_wording(action):
    rng = rng_for(5, action)
    letters = []

    for _ in range(300):
        prompt, answer, claims = draw_decision(RECORDS[action], rng=rng)
        letter, _, reason = answer.partition("\n")
        letters.append(letter)
        assert [text in prompt for text, _ in claims] == [True] * 3
        assert ["ABC".index(letter) == place for place in range(3)] == [is_right for _, is_right in claims]
        assert [actions_meant(DRIVING, text) for text, _ in claims if _] == [{action}]
        assert bool(reason) == (DRIVING.reason_request in prompt)

    assert min(letters.count(letter) for letter in "ABC") > 60


def test_about_a_kitchen_a_denied_danger_is_safe_and_any_other_question_has_its_own_answer():
    found = record("indoor", "cabinet_open")
    asked = INDOOR.decide(found.key).question
    rng = rng_for(6, "kitchen")
    own, denied = [], []

    for _ in range(400):
        prompt, answer, claims = draw_decision(found, rng=rng)
        ((right, _),) = [claim for claim in claims if claim[1]]
        action = actions_meant(INDOOR, right)
        assert ["AB".index(answer[0]) == place for place in range(2)] == [right for _, right in claims]
        if asked in prompt:
            own.append(action)
        else:
            denied.append(action)
            assert sum(rule.question in prompt for rule in denied_rules(found.key)) >= 1

    assert own == [{"hazard"}] * len(own)
    assert denied == [{"safe"}] * len(denied)
    assert abs(len(denied) - 120) < 45


@pytest.mark.parametrize(
    ("concepts", "question"),
    [
        (("glass_tipped",), "Has liquid run out of a container, so that somebody could slip on it?"),
        (("scissors_open",), "Have a knife or scissors been left lying where a child could cut itself?"),
        (("child_on_stool",), "Could a child fall from something that it has climbed?"),
        (("outlet_covered",), "Could somebody get an electric shock from a socket in the wall?"),
        (("pan_counter",), "Could a child pull a hot pan over by its handle?"),
        (("cabinet_closed",), "Can a child reach the cleaning products kept below the sink?"),
        (("stove_on", "towel_near"), "Is there a fire or smoke that somebody has to fight at once?"),
        (("stove_on", "towel_near"), "Has something in the kitchen gone up in flames?"),
        (("stove_on", "smoke"), "Could a child burn itself on a burner that is lit?"),
    ],
)
def test_no_danger_is_denied_of_which_something_is_in_the_picture(concepts, question):
    elsewhere = [rule.question for rule in denied_rules(("loose_cord_floor",))]
    asked = [rule.question for rule in denied_rules(INDOOR.canonical(concepts))]

    assert question in elsewhere
    assert question not in asked
    assert "Has medicine been left open, so that somebody could swallow it by mistake?" in asked


def test_denied_questions_are_about_hazards_and_each_stands_once():
    questions = [rule.question for rule in denied_rules(())]

    hazards = {rule.question for rule in INDOOR.rules if rule.action == "hazard"}
    assert sorted(questions) == sorted(hazards)
    assert {rule.action for rule in denied_rules(())} == {"hazard"}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (record("driving", "light_green", "cone", "far"), "Cone in the lane, further ahead."),
        (record("driving", "cyclist", "near"), "Cyclist in the lane, close ahead."),
        (record("driving", "light_red"), "The light is red."),
        (record("driving", "light_green"), "The light is green and the lane is free."),
        (record("driving", "town_town01", "weather_foggy"), "Heavy rain or fog hides the road."),
        (record("driving", "intersection_ego"), "A junction comes up and no green light clears it."),
        (record("driving", "town_town02"), "The lane is free."),
    ],
)
def test_the_reason_names_what_decides(found, reason):
    assert reason_sentence(found, ask_question(DRIVING, found.key, seed=1)) == reason


def test_the_reason_about_a_kitchen_is_the_one_of_the_deciding_rule():
    found = record("indoor", "knife_edge")
    question = ask_question(INDOOR, found.key, seed=1)

    assert reason_sentence(found, question) == INDOOR.decide(found.key).why


def test_every_question_is_the_one_of_some_rule():
    questions = every_question([DRIVING, INDOOR])

    assert questions == [rule.question for rule in INDOOR.rules]


def test_a_question_with_another_answer_keeps_its_words_and_has_no_rule():
    question = ask_question(DRIVING, ("cone", "light_green"), seed=3)

    other = answered_as(question, "continue")

    assert other.actions[other.expected_letter] == "continue"
    assert (other.prompt, other.options, other.actions) == (
        question.prompt,
        question.options,
        question.actions,
    )
    assert (other.decision.action, other.decision.rule_id, other.decision.why) == ("continue", "", "")


def test_a_question_that_has_this_answer_already_stays_as_it_is():
    question = ask_question(DRIVING, ("cone",), seed=3)

    assert answered_as(question, "emergency_stop") is question


def labelled(action):
    """Return a cone at a green light that people labelled so."""
    found = record("driving", "light_green", "cone")
    rows = (replace(found, scene_seed=number) for number in range(100))
    return next(one for one in rows if label_of(one) == action)


@pytest.mark.parametrize("by_people", [True, False], ids=["by people", "by the rules"])
@pytest.mark.parametrize("label", ["continue", "emergency_stop"])
def test_a_decision_teaches_the_label_of_people_or_else_the_rules(label, by_people):
    found = labelled(label)
    rng = rng_for(8, label)
    reasons = 0

    for _ in range(300):
        prompt, answer, claims = draw_decision(found, rng=rng, by_people=by_people)
        letter, _, reason = answer.partition("\n")
        ((right, _),) = [claim for claim in claims if claim[1]]
        assert actions_meant(DRIVING, right) == {label if by_people else "emergency_stop"}
        assert ["ABC".index(letter) == place for place in range(3)] == [is_right for _, is_right in claims]
        assert reason == ("Cone in the lane, close ahead." if DRIVING.reason_request in prompt else "")
        reasons += bool(reason)

    is_wrong = by_people and label == "continue"
    assert reasons == 0 if is_wrong else reasons > 8


def test_people_and_rules_are_asked_the_same_about_a_kitchen():
    found = record("indoor", "cabinet_open")

    by_people = [draw_decision(found, rng=rng_for(9, "kitchen", n), by_people=True) for n in range(80)]

    assert by_people == [draw_decision(found, rng=rng_for(9, "kitchen", n)) for n in range(80)]
