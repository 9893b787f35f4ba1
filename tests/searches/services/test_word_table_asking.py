"""Asking a system for a word table: batches, halves, what is kept, limits, outages; a real HTTP peer too."""

import json

import pytest

from searches.enums import JobState, WordTableState
from searches.models import Job, SutRecord, WordTableRecord
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.word_table_asking import (
    BATCH,
    go_on_asking,
    start_word_table,
    stop_asking,
)
from searches.services.word_table_drafts import draft_of
from tests.factories import make_sut, make_user
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.base import SutReply

pytestmark = pytest.mark.django_db


class Writer:
    """A loaded system that writes what a function of the asked labels says."""

    def __init__(self, write):
        self.write, self.asked, self.info = write, [], None

    def generate(self, requests):
        [request] = requests
        labels = json.loads(request.prompt.rpartition("Labels: ")[2])
        self.asked.append(labels)
        reply = self.write(labels)
        return [reply if isinstance(reply, SutReply) else SutReply(reply, served_model="gpt-oss-120b")]


def good(labels):
    return json.dumps({label: [f"{label} one", f"{label} two"] for label in labels})


@pytest.fixture
def writer(monkeypatch):
    def use(write):
        loaded = Writer(write)
        monkeypatch.setattr("searches.services.word_table_asking.load_sut", lambda sut: loaded)
        return loaded

    return use


def start(labels, **values):
    sut = make_sut(queue="api", **values)
    return start_word_table(title="Ours", kind="synonym", labels=labels, sut=sut, by=make_user())


def work():
    """Do what waits until nothing does."""
    while lease := take_job("w", ["api"], is_long=True):
        run_job(lease)


def proposals(row):
    row.refresh_from_db()
    return {label: [one.text for one in some] for label, some in draft_of(row).table.labels.items()}


def test_labels_are_asked_in_batches_and_wait_for_a_review(writer):
    loaded = writer(good)
    row, job = start([f"thing {number}" for number in range(BATCH + 2)])

    work()

    row.refresh_from_db()
    job.refresh_from_db()
    assert [len(labels) for labels in loaded.asked] == [BATCH, 2]
    assert (row.state, job.state) == (WordTableState.DRAFT, JobState.DONE)
    assert proposals(row)["thing 11"] == ["thing 11 one", "thing 11 two"]
    assert job.result == {"table": "ours", "n_answered": 12, "n_calls": 12, "unit": "Labels"}
    assert draft_of(row).table.labels["thing 0"][0].source == "gpt-oss-120b"
    assert SutRecord.objects.get().n_calls == 2


def test_a_broken_answer_is_asked_again_in_halves_down_to_one_label(writer):
    loaded = writer(lambda labels: good(labels) if "bad" not in labels else "no idea")
    row, _ = start(["a", "bad", "c", "d"])

    work()

    assert loaded.asked == [["a", "bad", "c", "d"], ["a", "bad"], ["a"], ["bad"], ["c", "d"]]
    assert proposals(row)["bad"] == []
    assert draft_of(row).problems == {"bad": "The model's answer is not one JSON object."}
    assert row.state == WordTableState.DRAFT


def test_an_answer_that_was_cut_is_not_read(writer):
    writer(lambda labels: SutReply(good(labels), finish_reason="length"))
    row, _ = start(["a"])

    work()

    assert (proposals(row), "cut" in draft_of(row).problems["a"]) == ({"a": []}, True)


def test_what_was_answered_is_kept_when_the_server_goes_away_and_never_asked_again(writer):
    calls = iter([good, *[lambda labels: SutReply("", call_error="No route.")] * 3])
    loaded = writer(lambda labels: next(calls)(labels))
    row, job = start([f"t{number}" for number in range(2 * BATCH)])

    work()
    job.refresh_from_db()
    row.refresh_from_db()

    assert (job.state, job.hint, row.state) == (JobState.FAILED, "No route.", WordTableState.FAILED)
    assert len(loaded.asked) == 4
    assert len(proposals(row)) == BATCH

    again = writer(good)
    go_on_asking(row, by=None)
    work()

    assert again.asked == [[f"t{number}" for number in range(BATCH, 2 * BATCH)]]
    assert (len(proposals(row)), row.state) == (2 * BATCH, WordTableState.DRAFT)


def test_a_slice_gives_way_to_others_and_goes_on_where_it_was(writer, settings):
    settings.SLICE_SECONDS = 0
    loaded = writer(good)
    row, job = start([f"t{number}" for number in range(3 * BATCH)])

    run_job(take_job("w", ["api"], is_long=True))
    job.refresh_from_db()

    assert (job.state, job.result["n_answered"], len(loaded.asked)) == (JobState.QUEUED, BATCH, 1)
    work()
    assert (len(proposals(row)), len(loaded.asked)) == (3 * BATCH, 3)


def test_stopping_keeps_the_answer_that_was_under_way(writer):
    def write(labels):
        stop_asking(row, by=None)
        return good(labels)

    loaded = writer(write)
    row, job = start([f"t{number}" for number in range(2 * BATCH)])

    work()
    job.refresh_from_db()

    assert (len(proposals(row)), len(loaded.asked)) == (BATCH, 1)
    assert (job.state, job.error, row.state, row.error) == (
        JobState.FAILED, "It was stopped.", WordTableState.FAILED, "It was stopped.",
    )  # fmt: skip


def test_a_worker_that_was_asked_to_stop_leaves_the_rest_to_the_next(writer):
    writer(lambda labels: SutReply("", call_error="Stopped.", failure_kind="stopped"))
    row, job = start(["a"])

    run_job(take_job("w", ["api"], is_long=True))
    job.refresh_from_db()
    row.refresh_from_db()

    assert (job.state, row.state) == (JobState.QUEUED, WordTableState.ASKING)


def test_a_spending_limit_ends_the_asking_before_it_is_passed(writer):
    loaded = writer(lambda labels: SutReply(good(labels), cost_usd=0.6))
    prices = {"input_price_usd": 1.0, "output_price_usd": 1.0, "spend_cap_usd": 0.5}
    params = {"base_url": "http://127.0.0.1:9/v1", "model": "m", **prices}
    row, _ = start([f"t{number}" for number in range(2 * BATCH)], kind="openai_chat", params=params)

    work()
    row.refresh_from_db()

    assert (len(loaded.asked), row.state) == (1, WordTableState.FAILED)
    assert row.error.startswith("The spending limit of")
    assert len(proposals(row)) == BATCH


def test_a_switched_off_system_is_not_asked():
    with pytest.raises(VlmLabError) as caught:
        start(["a"], is_enabled=False)

    assert caught.value.field == "sut"
    assert not WordTableRecord.objects.exists()
    assert not Job.objects.exists()


def test_a_deleted_table_ends_its_job(writer):
    writer(good)
    row, job = start(["a"])
    row.delete()

    work()
    job.refresh_from_db()

    assert (job.state, job.error) == (JobState.FAILED, "This word table was deleted.")
