"""Readings of replies that should hold boxes: the collected cases, rule by rule, and hostile text."""

import json
from pathlib import Path

import pytest

from vlmlab.core.replies.boxes import parse_boxes

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "reply_cases.jsonl").read_text("utf-8").splitlines()
]
SETTLED = [case for case in CASES if not case["contested"]]
CONTESTED = [case for case in CASES if case["contested"]]


def _read(case):
    return parse_boxes(
        case["raw"],
        convention=case["convention"],
        image_size=tuple(case["image_size"]),
        seen_size=case["seen_size"] and tuple(case["seen_size"]),
        finish_reason=case["finish_reason"],
    )


def _agrees(items, expected, case):
    assert [item.box for item in items] == [pytest.approx(box["box"], abs=case["tol_px"]) for box in expected]
    if case["check_labels"]:
        assert [item.label for item in items] == [box["label"] for box in expected]


@pytest.mark.parametrize("case", SETTLED, ids=[case["id"] for case in SETTLED])
def test_parse_boxes_reads_the_collected_case(case):
    reading = _read(case)

    status = case["expected"] if isinstance(case["expected"], str) else "boxes"
    assert (reading.status, reading.reason) == (status, case["expected_reason"])
    assert list(reading.flags) == case["expected_flags"]
    _agrees(reading.items, case["expected"] if status == "boxes" else [], case)
    _agrees(reading.salvage, case["salvage"] or [], case)


@pytest.mark.parametrize("case", CONTESTED, ids=[case["id"] for case in CONTESTED])
def test_parse_boxes_reads_a_contested_case_the_same_way_twice(case):
    assert _read(case) == _read(case)
