"""Exports as downloads: complete, harmless in a spreadsheet, nothing else under their address."""

import csv
import io
import json

import pytest
from django.test import Client

from searches.models import Finding, Sample
from searches.services import exports
from tests.factories import make_finished_run, make_user
from vlmlab.web.roles import Role
from vlmlab.web.streaming import stream_file

pytestmark = pytest.mark.django_db


def rows_of(lines) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines))))


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_that_a_spreadsheet_would_run_gets_a_quote(sign):
    run = make_finished_run()
    run.samples.update(raw_text=f"{sign}HYPERLINK(1)")

    assert {row["raw_text"] for row in rows_of(exports.samples_csv(run))} == {f"'{sign}HYPERLINK(1)"}


def test_numbers_are_left_as_they_are():
    assert exports.safe_cell(-3) == -3
    assert exports.safe_cell(-0.5) == -0.5
    assert exports.safe_cell("a-b") == "a-b"


def test_every_sample_stands_in_the_csv_in_the_order_it_was_asked():
    run = make_finished_run()

    rows = rows_of(exports.samples_csv(run))

    assert len(rows) == Sample.objects.count() == 14
    assert [(int(row["step"]), int(row["position"])) for row in rows] == sorted(
        (int(row["step"]), int(row["position"])) for row in rows
    )


def test_the_json_of_a_run_is_whole():
    run = make_finished_run()

    whole = json.loads("".join(exports.run_json(run)))

    assert (whole["inferences"], whole["call_errors"], len(whole["sets"]), len(whole["samples"])) == (
        13,
        1,
        3,
        14,
    )
    assert whole["pfm_counts"] == [2, 3]
    assert [mode["concepts"] for mode in whole["failure_modes"]] == [["cone", "far"], ["cone", "fog"]]


@pytest.mark.parametrize(("what", "rows"), [("sets", 3), ("samples", 14), ("findings", 2)])
def test_csv_and_json_hold_the_same_rows(what, rows):
    run = make_finished_run()

    lines = rows_of(exports.RUN_EXPORTS[what, "csv"](run))
    values = json.loads("".join(exports.RUN_EXPORTS[what, "json"](run)))

    assert (len(lines), len(values)) == (rows, rows)


def test_an_export_of_nothing_is_a_header_or_an_empty_list():
    assert "".join(exports.findings_json(Finding.objects.none())) == "[]"
    assert next(exports.findings_csv(Finding.objects.none())).startswith("id,run_id,sut_slug")


@pytest.mark.parametrize(("what", "fmt"), list(exports.RUN_EXPORTS))
def test_downloads_say_run_and_date_and_are_utf8(what, fmt):
    run, client = make_finished_run(), Client()
    client.force_login(make_user(Role.REVIEWER))

    answer = client.get(f"/runs/{run.pk}/export/{what}.{fmt}")

    name = f"vlmlab-run-{run.pk}-{what}-{run.finished_at:%Y-%m-%d}.{fmt}"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["Content-Type"] == f"{exports.MEDIA_TYPES[fmt]}; charset=utf-8"
    assert b"".join(answer.streaming_content)


def test_an_unknown_export_is_not_found():
    run, client = make_finished_run(), Client()
    client.force_login(make_user(Role.REVIEWER))

    assert client.get(f"/runs/{run.pk}/export/secrets.csv").status_code == 404


def test_a_long_file_is_sent_in_pieces():
    sent: list[int] = []

    def pieces():
        for number in range(1000):
            sent.append(number)
            yield "x"

    chunks = iter(stream_file(pieces(), name="a.csv", media_type="text/csv"))
    first = next(chunks)

    assert (len(first), len(sent)) == (200, 200)
