"""The models that come with the lab: complete folders, small, and able to do what their cards say."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from vlmlab.core.boxes import iou
from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.replies.boxes import parse_boxes
from vlmlab.core.replies.calibration import judge_answers, judge_boxes, probe_pictures
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.scenes.recognition import ask_with_statements
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.strata import STRATA, draw_annotated
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut

ASSETS = Path(__file__).resolve().parents[3] / "vlmlab" / "assets"
NAMES = ("pocket", "pocket-early")
MOST_BYTES = 20_000_000
ASKING = AskingParams(prompt_style="json_0_1000")
DRIVING_SETS = (
    *(("cone",), ("pedestrian",), ("obstruction_near",), ("light_red",), ("chain_barrier_near",)),
    *(
        ("intersection_ego",),
        ("obstruction_far",),
        ("chain_barrier_far",),
        ("town_town01", "weather_clear_noon"),
    ),
    *(("cone", "on_sidewalk"), ("garbage_bin", "on_sidewalk"), ("light_green",)),
)
KITCHEN_SETS = (
    *(("knife_edge",), ("knife_block",), ("cabinet_open",), ("cabinet_closed",), ("wet_floor",)),
    *(("glass_upright",), ("glass_floor",), ("outlet_covered",), ("pan_counter",), ("loose_cord_floor",)),
)
SETS = {"driving": DRIVING_SETS, "indoor": KITCHEN_SETS}
SIZE = (320, 240)


def shipped(name):
    """Load a shipped model as the lab does."""
    settings = {"checkpoint": f"shipped:{name}", "batch_size": 16, "max_new_tokens": 64}
    return load_sut("transformers_local", settings, SutContext(CheckpointRoots()))


@pytest.fixture(scope="module")
def pocket():
    return shipped("pocket")


def test_all_weights_together_are_small():
    weights = {path.parent.name: path.stat().st_size for path in ASSETS.glob("*/model.safetensors")}

    assert set(weights) == set(NAMES)
    assert sum(weights.values()) <= MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_folder_has_a_card_that_says_what_it_is_and_its_training_log(name):
    card = (ASSETS / name / "README.md").read_text()
    log = [json.loads(line) for line in (ASSETS / name / "training_log.jsonl").read_text().splitlines()]

    phases = list(dict.fromkeys(row["phase"] for row in log))
    scores = [row["score"] for row in log if row["kind"] == "check"]

    assert "license: apache-2.0" in card
    assert "Synthetic scenes only, not a benchmark" in card
    assert f"`shipped:{name}`" in card
    assert phases == ["language", "vision", "bridge", "joint"]
    assert len(scores) >= len(phases)
    assert all(score <= 1.0 for score in scores)  # of language early ones may lie below 0
    assert (
        min(max(row["score"] for row in log if row["phase"] == one and "score" in row) for one in phases)
        > 0.5
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_model_loads_and_answers_what_it_is_asked(name):
    sut = shipped(name)
    asked = [*asked_about("driving")[:6], *asked_about("indoor")[:6]]

    replies = sut.generate([SutRequest(png, question.prompt) for png, question in asked])

    readings = readings_of(asked, replies)
    assert [reading.status for reading in readings] == ["answered"] * 12
    assert count_right(asked, readings) >= 7  # by chance 5: six times a third, six times a half


def test_pocket_decides_in_both_domains(pocket):
    street, kitchen = asked_about("driving"), asked_about("indoor")
    asked = [*street, *kitchen]

    replies = pocket.generate([SutRequest(png, question.prompt) for png, question in asked])

    readings = readings_of(asked, replies)
    assert [reading.status for reading in readings] == ["answered"] * len(asked)
    assert count_right(street, readings[: len(street)]) >= 9
    assert count_right(kitchen, readings[len(street) :]) >= 7


def test_pocket_judges_statements_before_a_question(pocket):
    asked = [
        (png, ask_with_statements(load_domain(slug), key, seed=number))
        for slug, keys in SETS.items()
        for number, (png, key) in enumerate(zip(pictures_of(slug), keys, strict=True))
    ]

    replies = pocket.generate([SutRequest(png, probed.prompt) for png, probed in asked])

    verdicts = []
    for (_, probed), reply in zip(asked, replies, strict=True):
        wanted = [one.is_true for one in probed.statements]
        reading = parse_choice(reply.text, options=probed.question.options, n_statements=len(wanted))
        verdicts += [one == two for one, two in zip(reading.statements, wanted, strict=True)]
    assert len(verdicts) == 2 * sum(len(key) for key in (*DRIVING_SETS, *KITCHEN_SETS))
    assert np.mean(verdicts) >= 0.7


@cache
def pictures_of(slug):
    """Return one picture of each of a domain's sets."""
    source = make_scene_source(domain=slug, width=SIZE[0], height=SIZE[1], quality="fast")
    return [source.generate(key, seed=77_000 + number).image_png for number, key in enumerate(SETS[slug])]


def asked_about(slug):
    """Return one picture of each of a domain's sets, with the domain's question about it."""
    domain = load_domain(slug)
    rows = zip(pictures_of(slug), SETS[slug], strict=True)
    return [(png, ask_question(domain, key, seed=number)) for number, (png, key) in enumerate(rows)]


def readings_of(asked, replies):
    return [
        parse_choice(reply.text, options=question.options)
        for (_, question), reply in zip(asked, replies, strict=True)
    ]


def count_right(asked, readings):
    return sum(
        reading.letter == question.expected_letter
        for (_, question), reading in zip(asked, readings, strict=True)
    )


def test_pocket_finds_things_of_all_four_strata(pocket, drawn):
    asked = [(one, one.asked[:1]) for one in drawn if one.index < 5]

    found = overlaps_of(pocket, asked)

    assert len(found) == 20
    assert sum(overlap >= 0.5 for overlap in found) >= 13


def test_pocket_finds_two_things_that_one_prompt_names(pocket, drawn):
    asked = [(one, one.asked[:2]) for one in drawn if len(one.asked) > 1]

    found = overlaps_of(pocket, asked)

    assert len(asked) >= 4
    assert len(found) == 2 * len(asked)
    assert sum(overlap >= 0.5 for overlap in found) >= len(found) / 2


@pytest.fixture(scope="module")
def drawn():
    """Return seven annotated pictures of each stratum."""
    rows = []
    for stratum in STRATA.values():
        domain = load_domain(stratum.domain)
        source = make_scene_source(domain=domain.slug, width=SIZE[0], height=SIZE[1], quality="fast")
        rows += [draw_annotated(stratum, domain, source, seed=77, index=n, size=SIZE) for n in range(7)]
    return rows


def overlaps_of(sut, asked):
    """Ask where things are; return the best IoU of each with a box of its label, 0 where none is told."""
    requests = [
        SutRequest(one.scene.image_png, localization_prompt(ASKING, joined(labels))) for one, labels in asked
    ]
    found = []
    for (one, labels), reply in zip(asked, sut.generate(requests), strict=True):
        reading = parse_boxes(reply.text, convention=RELATIVE_1000, image_size=SIZE)
        for label in labels:
            (truth,) = [box.box for box in one.truth if box.label == label and box.is_asked]
            boxes = [item.box for item in reading.items if item.label == label]
            overlaps = [float(iou(np.array([box]), np.array([truth]))[0, 0]) for box in boxes]
            found.append(max(overlaps, default=0.0))
    return found


def joined(labels):
    """Return labels as a prompt names them: "the cyclist and the traffic cone"."""
    return " and ".join(f"the {label}" for label in labels)


def test_pocket_passes_the_calibration_that_every_system_goes_through(pocket):
    pictures = probe_pictures()
    where = [SutRequest(one.image_png, localization_prompt(ASKING, one.target)) for one in pictures]
    what = [SutRequest(one.image_png, choice_prompt(ASKING, one.question)) for one in pictures]

    boxes = judge_boxes(pictures, pocket.generate(where), RELATIVE_1000)
    answers = judge_answers(pictures, pocket.generate(what))

    assert (boxes.status, answers.status) == ("calibrated", "calibrated")
    assert answers.right_share is not None
    assert answers.right_share >= 0.4
