"""The model card: tables from measured numbers, and the curves as one picture."""

import json
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from safetensors.numpy import save_file

from tools.pocket.card import (
    PHASES,
    accuracy_table,
    attribution,
    card_text,
    confusion_table,
    degradation_table,
    kept_log,
    main,
    parameters_of,
    share_text,
    training_table,
)
from tools.pocket.curves import COLOURS, PANEL_HEIGHT, PANEL_WIDTH, curves_svg

SVG = "{http://www.w3.org/2000/svg}"


def share(right, asked):
    return {"right": right, "asked": asked, "low": 0.25, "high": 0.755}


CLEAN = {"driving answer": share(8, 10), "indoor answer": share(10, 10), "locating": share(5, 10)}
WORSE = {"driving answer": share(4, 10), "indoor answer": share(10, 10), "locating": share(0, 10)}
DEGRADATION = {
    "clean": CLEAN,
    "curves": {
        "blur": {"unit": "sigma < 5", "points": [{"level": 0.5, **CLEAN}, {"level": 2, **WORSE}]},
        "noise & more": {"unit": "sigma", "points": [{"level": 5, **WORSE}]},
    },
}
REPORT = {
    "summary": {"driving answer": share(8, 10), "driving answer: slow_down": share(3, 4)},
    "mean_iou": 0.734,
    "malformed": {"": share(1, 40), "driving answer": share(0, 30), "locating": share(1, 10)},
    "confusion": {"driving": {"slow_down": {"slow_down": 3, "invalid": 1}}},
    "weakest": {"driving": [["cone", share(1, 5)]]},
}
LOG = [
    {"phase": "vision", "kind": "train", "step": 100, "seconds": 60, "box": 1.0},
    {"phase": "vision", "kind": "check", "step": 100, "seconds": 90, "score": 0.5},
    {"phase": "vision", "kind": "check", "step": 200, "seconds": 180, "score": 0.75},
    {"phase": "vision", "kind": "check", "step": 300, "seconds": 270, "score": 0.6},
    {"phase": "joint", "kind": "check", "step": 50, "seconds": 600, "score": 0.8},
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LOG))
    return path


def test_a_share_is_written_with_its_interval():
    assert share_text(share(3, 4)) == "3/4 = 75.0 % [25.0, 75.5]"
    assert share_text(share(0, 0)) == "0/0 = 0.0 % [25.0, 75.5]"


def test_the_accuracy_table_has_a_row_for_each_task_and_group():
    assert accuracy_table(REPORT["summary"]).splitlines() == [
        "| task | right |",
        "|---|---|",
        "| driving answer | 8/10 = 80.0 % [25.0, 75.5] |",
        "| driving answer: slow down | 3/4 = 75.0 % [25.0, 75.5] |",
    ]


def test_the_confusion_table_counts_every_answer():
    table = confusion_table({"slow_down": {"slow_down": 3, "invalid": 1}, "continue": {"continue": 2}})

    assert table.splitlines() == [
        "| expected \\ answered | slow down | continue | invalid |",
        "|---|---|---|---|",
        "| slow down | 3 | 0 | 1 |",
        "| continue | 0 | 2 | 0 |",
    ]


def test_the_degradation_table_has_a_row_for_each_change_and_task():
    rows = degradation_table(DEGRADATION).splitlines()

    assert len(rows) == 2 + 2 * 3
    assert rows[2] == "| blur (sigma < 5: 0.5, 2) | driving answer | 80 % | 80 % | 40 % |"
    assert rows[7] == "| noise & more (sigma: 5) | locating | 50 % | 0 % |"


def test_the_training_table_names_the_state_with_the_highest_score(log):
    assert training_table(log).splitlines()[2:] == [
        "| vision | 200 | 3 | 0.750 |",
        "| joint | 50 | 10 | 0.800 |",
    ]


def test_the_training_table_of_an_earlier_state_names_its_own_step(log):
    assert training_table(log, last_step=50).splitlines()[3:] == ["| joint | 50 | 10 | 0.800 |"]
    assert training_table(log, last_step=40).splitlines()[2:] == ["| vision | 200 | 3 | 0.750 |"]


def test_the_log_of_an_earlier_state_ends_at_its_step(tmp_path):
    for phase in PHASES:
        (tmp_path / phase).mkdir()
        rows = [{"phase": phase, "step": step} for step in (100, 200)]
        (tmp_path / phase / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    early = [json.loads(line) for line in kept_log(tmp_path, last_step=100).splitlines()]
    whole = [json.loads(line) for line in kept_log(tmp_path, last_step=None).splitlines()]

    assert [(row["phase"], row["step"]) for row in whole] == [(p, n) for p in PHASES for n in (100, 200)]
    assert early == whole[:-1]


def test_failure_modes_stand_with_their_fresh_scenes(log):
    found = {"domain": "driving@1", "modes": [{"concepts": ["cone", "far"], "fresh": share(70, 100)}]}

    text = card_text(REPORT, None, name="pocket", parameters=1, notes=[], log=log, modes=[found])

    assert "| driving@1 | `cone` + `far` | 70/100 = 70.0 % [25.0, 75.5] |" in text.splitlines()
    assert "### Failure modes" not in card_text(REPORT, None, name="pocket", parameters=1, notes=[], log=log)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    folder, run = tmp_path / "model", tmp_path / "run"
    folder.mkdir()
    save_file({"a": np.zeros(5, np.float32)}, folder / "model.safetensors")
    for phase in PHASES:
        (run / phase).mkdir(parents=True)
        (run / phase / "log.jsonl").write_text(json.dumps({**LOG[1], "phase": phase}) + "\n")
    (tmp_path / "evaluation.json").write_text(json.dumps({**REPORT, "checkpoint": "abc"}))

    def write(fingerprint):
        info = SimpleNamespace(info=SimpleNamespace(fingerprint=fingerprint))
        monkeypatch.setattr("tools.pocket.card.opened", lambda _: info)
        words = ["card", "--name", "pocket", "--folder", str(folder), "--run", str(run)]
        monkeypatch.setattr("sys.argv", [*words, "--evaluation", str(tmp_path / "evaluation.json")])
        main()

    return folder, write


def test_a_card_and_its_log_are_written_beside_the_weights(shipped):
    folder, write = shipped

    write("abc")

    assert "# VLM Lab pocket" in (folder / "README.md").read_text()
    assert len((folder / "training_log.jsonl").read_text().splitlines()) == len(PHASES)


def test_an_evaluation_of_other_weights_writes_nothing(shipped, capsys):
    folder, write = shipped

    with pytest.raises(SystemExit):
        write("another")

    assert "is about another checkpoint than" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["model.safetensors"]


def test_parameters_are_counted_from_the_weights(tmp_path):
    save_file(
        {"a": np.zeros((3, 4), np.float32), "b": np.zeros(5, np.float32)}, tmp_path / "model.safetensors"
    )

    assert parameters_of(tmp_path) == 17


def test_each_work_is_attributed_once():
    lines = attribution().splitlines()

    assert len(lines) == len(set(lines)) > 3
    assert all(line.startswith("- ") and "](http" in line for line in lines)


@pytest.mark.parametrize("has_curves", [True, False])
def test_the_card_says_what_was_measured(log, has_curves):
    text = card_text(
        REPORT,
        DEGRADATION if has_curves else None,
        name="pocket",
        parameters=2_260_123,
        notes=["Trained on two cores."],
        log=log,
    )

    lines = text.splitlines()
    assert lines[0] == "---"
    assert "# VLM Lab pocket" in lines
    assert "2,260,123 parameters" in text
    malformed = "1/40 = 2.5 % [25.0, 75.5]; most in one task: locating, 1/10 = 10.0 % [25.0, 75.5]"
    assert f"Mean IoU of the boxes: 0.73. Malformed replies: {malformed}." in lines
    assert "Weakest concepts: `cone` 1/5." in lines
    assert "In VLM Lab: `shipped:pocket`." in lines
    assert "Trained on two cores." in lines
    assert (
        "![Share of right replies as pictures and prompts get worse](degradation.svg)" in lines
    ) is has_curves
    asked = "(driving answer: 10, indoor answer: 10, locating: 10)."
    assert (f"The same prompts at five levels of each change {asked}" in lines) is has_curves
    assert "{" not in text


def test_the_curves_are_valid_xml_with_one_line_for_each_change_and_task():
    root = ElementTree.fromstring(curves_svg(DEGRADATION))

    lines = root.findall(f"{SVG}polyline")
    assert [line.get("stroke") for line in lines] == [*COLOURS.values()] * 2
    titles = [text.text for text in root.findall(f"{SVG}text") if text.get("font-weight") == "600"]
    assert titles == ["blur", "noise & more"]


def test_a_curve_starts_at_the_clean_share_and_falls_with_it():
    root = ElementTree.fromstring(curves_svg(DEGRADATION))

    first = root.find(f"{SVG}polyline")
    points = [tuple(map(float, point.split(","))) for point in first.get("points").split()]
    x, y = points[0]
    assert points[1:] == [
        (pytest.approx(x + PANEL_WIDTH / 2), pytest.approx(y)),
        (pytest.approx(x + PANEL_WIDTH), pytest.approx(y + 0.4 * PANEL_HEIGHT)),
    ]
