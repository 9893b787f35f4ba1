"""One dialogue of each kind about a picture: answers that the readers of the searches understand."""

import re
from dataclasses import replace

import pytest

from tests.tools.pocket_parts import record, seen
from tools.pocket import wordings
from tools.pocket.imagined import imagined_record
from tools.pocket.labelling import label_of
from tools.pocket.locating import own_prompt
from tools.pocket.rectangles import rectangle_pictures
from tools.pocket.shards import PictureRecord, SeenObject
from tools.pocket.wordings import STATEMENT_WORDINGS, draw_dialogue, prompt_corpus
from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.replies.boxes import parse_boxes
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.replies.probe_pictures import COLOURS, probe_pictures
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.recognition import STATEMENTS_HEADING, statement_prompt
from vlmlab.core.seeding import rng_for

DRIVING_OPTIONS = tuple(
    load_domain("driving").option_texts[action] for action in ("continue", "emergency_stop", "slow_down")
)
STREET, KITCHEN = record("driving", "cone", "far"), record("indoor", "glass_tipped")
BLUE = SeenObject("", "blue rectangle", "blue rectangle", True, (0.1, 0.2, 0.5, 0.6))
PROBE = PictureRecord("probe", (), 0, (BLUE,))


def options_of(prompt):
    """Return letter -> text of the options that a prompt lists, one a line."""
    return dict(re.findall(r"^([A-D])[.)] (.+)$", prompt, flags=re.MULTILINE))


@pytest.mark.parametrize("found", [STREET, KITCHEN], ids=["street", "kitchen"])
def test_the_answer_to_a_probe_is_read_right_statements_and_letter(found):
    rng = rng_for(1, "probe", found.domain)
    counts = set()

    for _ in range(60):
        dialogue = draw_dialogue("probe", found, found.objects, rng=rng)
        options = options_of(dialogue.prompt)
        statements = dialogue.claims[: -len(options)]
        reading = parse_choice(dialogue.answer, options=options, n_statements=len(statements))
        counts.add(len(statements))
        assert dialogue.prompt.startswith(STATEMENTS_HEADING)
        assert [f"\n{n}. {text}\n" in dialogue.prompt for n, (text, _) in enumerate(statements, 1)] == [
            True
        ] * len(statements)
        assert reading.statements == [is_true for _, is_true in statements]
        assert [(options[letter], letter == reading.letter) for letter in options] == list(
            dialogue.claims[-len(options) :]
        )

    assert counts == set(range(1, 9))


@pytest.mark.parametrize("kind", ["probe", "decision"])
@pytest.mark.parametrize("by_people", [True, False], ids=["by people", "by the rules"])
def test_pictures_teach_the_label_that_people_gave_them(kind, by_people):
    found = record("driving", "light_green", "cone")
    found = next(
        one
        for one in (replace(found, scene_seed=number) for number in range(100))
        if label_of(one) == "continue"
    )
    rng = rng_for(11, kind)
    taught = []

    for _ in range(40):
        dialogue = draw_dialogue(kind, found, found.objects, rng=rng, by_people=by_people)
        options = options_of(dialogue.prompt)
        if {text for text, _ in dialogue.claims} >= set(DRIVING_OPTIONS):  # the project's own question
            letter = dialogue.answer.split("\n")[-1] if kind == "probe" else dialogue.answer[0]
            claims = [(options[one], one == letter) for one in options]
            taught.append(options[letter])
            assert [(text, right) for text, right in dialogue.claims if text in options.values()] == claims

    assert len(taught) >= 15
    assert set(taught) == {DRIVING_OPTIONS[0] if by_people else DRIVING_OPTIONS[1]}


@pytest.mark.parametrize("kind", ["probe", "location", "statement"])
def test_kitchens_and_what_is_no_decision_are_taught_alike_by_people_and_rules(kind):
    for found in (KITCHEN,) if kind == "probe" else (STREET, KITCHEN):
        first, second = (
            [
                draw_dialogue(kind, found, found.objects, rng=rng_for(12, kind, n), by_people=by_people)
                for n in range(20)
            ]
            for by_people in (True, False)
        )

        assert first == second


def test_a_decision_is_answered_with_the_letter_of_the_claim_that_is_right():
    rng = rng_for(2, "decision")

    for _ in range(60):
        dialogue = draw_dialogue("decision", STREET, STREET.objects, rng=rng)
        letter = parse_choice(dialogue.answer, options="ABC").letter
        assert ["ABC".index(letter) == place for place in range(3)] == [right for _, right in dialogue.claims]


@pytest.mark.parametrize("found", [STREET, KITCHEN], ids=["street", "kitchen"])
def test_a_statement_alone_is_answered_with_its_truth(found):
    rng = rng_for(3, "statement")
    own = 0

    for _ in range(200):
        dialogue = draw_dialogue("statement", found, found.objects, rng=rng)
        ((text, is_true),) = dialogue.claims
        plain = [wording.format(statement=text) for wording in STATEMENT_WORDINGS]
        assert dialogue.answer == ("T" if is_true else "F")
        assert dialogue.prompt in [statement_prompt(text), *plain]
        own += dialogue.prompt == statement_prompt(text)

    assert abs(own - 140) < 40


def test_a_location_is_answered_with_the_boxes_of_the_moved_objects():
    moved = (seen("cone", box=(0.5, 0.5, 0.7, 0.8)),)
    rng = rng_for(4, "location")

    answers = {draw_dialogue("location", STREET, moved, rng=rng).answer for _ in range(80)}

    assert answers == {'[{"bbox_2d": [500, 500, 700, 800], "label": "traffic cone"}]', "[]"}


def test_where_nothing_can_be_located_a_statement_is_asked(monkeypatch):
    monkeypatch.setattr(wordings, "draw_location", lambda *_args, **_named: None)

    dialogue = draw_dialogue("location", STREET, (), rng=rng_for(5, "none"))

    assert dialogue.answer in ("T", "F")
    assert len(dialogue.claims) == 1


def test_the_calibration_is_asked_for_the_colour_as_the_registration_asks():
    rng = rng_for(6, "colour")
    letters = []

    for kind in ("decision", "probe", "statement") * 40:
        dialogue = draw_dialogue(kind, PROBE, PROBE.objects, rng=rng)
        options = options_of(dialogue.prompt)
        letters.append(dialogue.answer)
        assert options[dialogue.answer] == "blue"
        assert len(set(options.values())) == 4
        assert set(options.values()) <= set(COLOURS)
        assert dialogue.claims == tuple((f"{one}. {name}", name == "blue") for one, name in options.items())

    asked = probe_pictures(0)[0]
    stripped = re.sub(r"(?m)^([A-D])\. \w+$", r"\1", asked.question)
    assert re.sub(r"(?m)^([A-D])\. \w+$", r"\1", dialogue.prompt) == stripped
    assert min(letters.count(letter) for letter in "ABCD") > 15


def test_the_calibration_is_asked_where_the_rectangle_is():
    rng = rng_for(7, "rectangle")
    dialogues = [draw_dialogue("location", PROBE, PROBE.objects, rng=rng) for _ in range(30)]

    assert {one.answer for one in dialogues} == {
        '[{"bbox_2d": [100, 200, 500, 600], "label": "blue rectangle"}]'
    }
    assert own_prompt(["blue rectangle"]) in {one.prompt for one in dialogues}


def test_a_rectangle_that_may_not_be_asked_for_is_asked_for_its_colour():
    cut = replace(BLUE, is_asked=False)

    dialogue = draw_dialogue("location", PROBE, (cut,), rng=rng_for(8, "cut"))

    assert options_of(dialogue.prompt)[dialogue.answer] == "blue"


def test_rectangle_pictures_show_the_colour_where_the_record_says():
    pictures, records = rectangle_pictures(1, side=64)

    assert (pictures.shape, len(records)) == ((20, 64, 64, 3), 20)
    for picture, found in zip(pictures, records, strict=True):
        (thing,) = found.objects
        x0, y0, x1, y1 = thing.box
        colour = COLOURS[thing.label.removesuffix(" rectangle")]
        inside = picture[round(y0 * 64) + 2 : round(y1 * 64) - 2, round(x0 * 64) + 2 : round(x1 * 64) - 2]
        assert abs(inside.astype(int) - colour).max() <= 12
        outside = picture.astype(int)[:, : max(0, round(x0 * 64) - 2)].reshape(-1, 3)
        assert not (abs(outside - colour).max(1) <= 12).any()
        assert (found.domain, found.key, thing.is_asked, thing.kind) == ("probe", (), True, thing.label)


def fractions(picture):
    x0, y0, x1, y1 = picture.box
    return (x0 / picture.width, y0 / picture.height, x1 / picture.width, y1 / picture.height)


def test_rectangle_pictures_of_other_seeds_are_other_pictures_than_the_calibrations():
    calibration = {fractions(one) for one in probe_pictures(0)}

    _, records = rectangle_pictures(1, side=16)
    _, same = rectangle_pictures(1, side=16, first=0)

    ours = {one.objects[0].box for one in records}
    assert {one.scene_seed for one in records} == {9000}
    assert len(ours) == 20
    assert ours.isdisjoint(calibration)
    assert {one.objects[0].box for one in same} == calibration


def test_the_corpus_has_prompts_and_answers_of_every_kind_and_every_sentence():
    rng = rng_for(9, "corpus")
    records = [imagined_record(rng) for _ in range(5)]

    texts = prompt_corpus(records, rng=rng_for(10, "corpus"))

    assert texts == prompt_corpus(records, rng=rng_for(10, "corpus"))
    assert texts.count("The street is lined with low houses with gardens.") >= 4
    assert texts.count("Could a child fall from something that it has climbed?") >= 4
    located = [text for text in texts[1:40:2] if text.startswith("[")]
    assert {
        parse_boxes(text, convention=RELATIVE_1000, image_size=(1000, 1000)).status for text in located
    } <= {"boxes", "empty"}
    assert len(located) == 5
