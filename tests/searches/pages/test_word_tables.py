"""Pages of word tables: coverage, asking a real server, the review of proposals, the final table."""

import json

import pytest

from searches.enums import WordTableState
from searches.models import Campaign, Dataset, DatasetPicture, Job, SutRecord, WordTableRecord
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.word_table_drafts import StoredDraft, draft_of, with_answer
from searches.services.word_tables import operators_of
from tests.factories import make_sut, make_user
from tests.peers.openai_chat import completion, openai_peer, sent_picture, sent_prompt
from tests.peers.server import json_answer
from tests.searches.pages.people import browser_of, statuses
from vlmlab.core.most.config import MostConfig
from vlmlab.core.perturb.word_table_requests import TableDraft, TableProposal
from vlmlab.core.seeding import rng_for
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
FOR_READERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
FOR_RESEARCHERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}


def make_table(slug="ours", *, labels=("forklift", "pallet jack"), state=WordTableState.DRAFT, **values):
    draft = StoredDraft(table=TableDraft(kind="synonym"))
    proposal = TableProposal(
        {"forklift": ("lift truck", "<b>stacker</b>"), "pallet jack": ("pump truck",)},
        {"forklift: 7": "It is not text.", "moon": "It was not asked for."},
    )
    row = WordTableRecord(
        slug=slug, title=slug.title(), kind="synonym", labels=list(labels), state=state,
        sut=make_sut(queue="api"), created_by=make_user(), **values,
    )  # fmt: skip
    row.draft = with_answer(draft, proposal, labels, source="gpt-oss-120b").model_dump(mode="json")
    row.save()
    return row


def decisions(row):
    row.refresh_from_db()
    return {
        label: [(one.text, one.status) for one in some] for label, some in draft_of(row).table.labels.items()
    }


def decide(row, **values):
    return browser_of(Role.RESEARCHER).post(f"/operators/word-tables/{row.slug}/decide/", values)


def messages_of(answer):
    return [str(one) for one in answer.wsgi_request._messages]


def test_tables_are_read_by_readers_and_made_by_researchers():
    make_table()

    for path in ("/operators/word-tables/", "/operators/word-tables/ours/"):
        assert statuses(path) == FOR_READERS, path
    assert statuses("/operators/word-tables/new/") == FOR_RESEARCHERS
    answers = statuses("/operators/word-tables/ours/decide/", method="post")
    assert (answers["researcher"], answers["reviewer"], answers["annotator"]) == (302, 403, 403)


def test_the_list_says_what_the_shipped_tables_cover_and_what_not():
    page = browser_of(Role.REVIEWER).get("/operators/word-tables/").content.decode()

    assert "77 of 80" in page
    assert "handbag, tv, laptop" in page
    assert "225 labels" in page
    assert "No table of your own yet" in page


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_tables(rows, django_assert_num_queries):
    for number in range(rows):
        make_table(f"table-{number}")
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(5):  # session, person, count, tables, navigation
        page = browser.get("/operators/word-tables/").content.decode()

    assert page.count('class="primary-link"') == rows


@pytest.mark.parametrize("labels", [("forklift",), ("forklift", "pallet jack", "cone")])
def test_the_page_takes_the_same_queries_for_any_number_of_labels(labels, django_assert_num_queries):
    make_table(labels=labels)
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(6):  # session, person, table, job, searches, navigation
        page = browser.get("/operators/word-tables/ours/")

    assert [line.label for line in page.context["lines"]] == list(labels)


# --- asking -------------------------------------------------------------------------------------------
def wish(**values):
    sut = SutRecord.objects.first() or make_sut("llm", queue="api")
    return {
        "title": "Warehouse",
        "kind": "synonym",
        "labels": "forklift\npallet jack",
        "sut": sut.slug,
    } | values


def create(**values):
    return browser_of(Role.RESEARCHER).post("/operators/word-tables/new/", wish(**values))


def test_a_table_is_asked_of_a_real_server_with_a_blank_picture_and_read(settings):
    def answering(asked):
        labels = json.loads(sent_prompt(asked).rpartition("Labels: ")[2])
        assert sent_picture(asked).getcolors() == [(64 * 64, (128, 128, 128))]
        reply = {label: [f"{label} machine", label, 7] for label in labels}
        return json_answer(completion(f"```json\n{json.dumps(reply)}\n```", model="gpt-oss-120b"))

    with openai_peer(answering) as peer:
        settings.ENDPOINT_ALLOW = [peer.url.removeprefix("http://")]
        make_sut("llm", kind="openai_chat", queue="api", params={"base_url": f"{peer.url}/v1", "model": "m"})
        answer = create()
        run_job(take_job("w", ["api"], is_long=True))
        page = browser_of(Role.RESEARCHER).get(answer.url)
        job_page = browser_of(Role.RESEARCHER).get(f"/jobs/{Job.objects.get().pk}/").content.decode()

    row = WordTableRecord.objects.get()
    assert (answer.url, len(peer.requests)) == ("/operators/word-tables/warehouse/", 1)
    assert (row.state, row.error) == (WordTableState.DRAFT, "")
    assert decisions(row)["forklift"] == [("forklift machine", "proposed")]
    [first, _] = page.context["lines"]
    assert first.problems == (("forklift", "It is the label itself."), ("7", "It is not text."))
    assert first.alternatives[0].source == "gpt-oss-120b"
    assert SutRecord.objects.get().n_calls == 1
    assert 'href="/operators/word-tables/warehouse/"' in job_page


def test_labels_come_from_a_dataset_too_and_shipped_ones_can_be_left_out():
    dataset = Dataset.objects.create(slug="d", title="D", origin="upload", n_pictures=1)
    DatasetPicture.objects.create(
        dataset=dataset, order=0, image_sha256="a" * 64, width=4, height=3,
        annotations=[{"label": "car"}, {"label": "tow tractor"}, {"box": []}],
    )  # fmt: skip

    create(labels="Forklift\nforklift", dataset="d", skips_shipped="on")
    create(labels="Forklift", dataset="d", title="All")

    first, second = WordTableRecord.objects.order_by("id")
    assert first.labels == [one for one in ("Forklift", "tow tractor") if one.lower() != "car"]
    assert second.labels == ["Forklift", "car", "tow tractor"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": "a\x00"}, "title"),
        ({"kind": "rhymes"}, "kind"),
        ({"labels": ""}, "labels"),
        ({"labels": "???"}, "labels"),
        ({"labels": "a" * 81}, "labels"),
        ({"labels": "car\u202e"}, "labels"),
        ({"labels": "traffic cone", "skips_shipped": "on"}, "labels"),
        ({"labels": "\n".join(f"thing {number}" for number in range(5001))}, "labels"),
        ({"sut": "nobody"}, "sut"),
        ({"dataset": "nothing"}, "dataset"),
    ],
)
def test_a_wrong_value_is_told_at_its_field_and_nothing_is_asked(change, field):
    answer = create(**change)

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert (WordTableRecord.objects.count(), Job.objects.count()) == (0, 0)


def test_labels_with_quotes_and_other_scripts_are_taken():
    create(labels="driver's cab\n安全帽\nЁлка")

    assert WordTableRecord.objects.get().labels == ["driver's cab", "安全帽", "Ёлка"]


def test_without_a_system_the_form_says_where_to_get_one():
    page = browser_of(Role.RESEARCHER).get("/operators/word-tables/new/").content.decode()

    assert "No system to ask" in page


# --- review -------------------------------------------------------------------------------------------
def test_the_page_shows_proposals_and_what_the_reader_left_out():
    make_table()

    answer = browser_of(Role.RESEARCHER).get("/operators/word-tables/ours/")

    page = answer.content.decode()
    assert "lift truck" in page
    assert "&lt;b&gt;stacker&lt;/b&gt;" in page
    assert "<b>stacker" not in page
    assert answer.context["lines"][0].problems == (("7", "It is not text."),)
    assert answer.context["page"].strays == (("moon", "It was not asked for."),)
    assert 'name="ok-0-0"' in page


def test_a_reader_who_may_not_decide_gets_no_form():
    make_table()

    assert (
        'name="ok-0-0"' not in browser_of(Role.REVIEWER).get("/operators/word-tables/ours/").content.decode()
    )


def page_values(**values):
    return {
        "do": "save", "page": "1",
        "label-0": "forklift", "alt-0-0": "lift truck", "text-0-0": "lift truck",
        "alt-0-1": "<b>stacker</b>", "text-0-1": "<b>stacker</b>",
        "label-1": "pallet jack", "alt-1-0": "pump truck", "text-1-0": "pump truck",
    } | values  # fmt: skip


def test_saving_accepts_what_is_ticked_and_refuses_the_rest():
    row = make_table()

    answer = decide(row, **page_values(**{"ok-0-0": "on"}))

    assert answer.url == "/operators/word-tables/ours/?page=1#labels"
    assert decisions(row) == {
        "forklift": [("lift truck", "accepted"), ("<b>stacker</b>", "refused")],
        "pallet jack": [("pump truck", "refused")],
    }


@pytest.mark.parametrize(("action", "status"), [("accept", "accepted"), ("refuse", "refused")])
def test_a_whole_page_is_decided_at_once(action, status):
    row = make_table()

    decide(row, **page_values(do=action))

    assert {one for some in decisions(row).values() for _, one in some} == {status}


def test_a_changed_wording_is_a_proposal_of_the_person_and_the_old_one_is_refused():
    row = make_table()

    decide(row, **page_values(**{"ok-0-1": "on", "text-0-1": "  order  picker ", "own-1": "hand truck"}))

    assert decisions(row) == {
        "forklift": [("lift truck", "refused"), ("<b>stacker</b>", "refused"), ("order picker", "accepted")],
        "pallet jack": [("pump truck", "refused"), ("hand truck", "accepted")],
    }


@pytest.mark.parametrize(
    "change",
    [
        {"own-0": "forklift"},
        {"own-0": "?!"},
        {"own-0": "x" * 81},
        {"label-0": "moon", "own-0": "satellite"},
        {"alt-0-0": "never proposed", "text-0-0": "never proposed"},
        {"alt-0-0": "x" * 100_000, "text-0-0": "x" * 100_000},
        {"label-0": "forklift\x00"},
    ],
)
def test_a_decision_that_cannot_be_changes_nothing_and_says_why(change):
    row = make_table()
    before = decisions(row)

    answer = decide(row, **page_values(**{"ok-0-0": "on"} | change))

    assert decisions(row) == before
    assert messages_of(answer)


def test_a_finished_review_is_a_table_that_a_search_can_name_and_never_changes():
    row = make_table()
    decide(row, **page_values(**{"ok-0-0": "on"}))

    decide(row, do="finish")
    later = decide(row, **page_values(**{"ok-0-1": "on"}))
    synonym = operators_of(MostConfig(synonym_table="ours"))["synonym"]

    row.refresh_from_db()
    assert (row.state, row.reviewed_at is None) == (WordTableState.REVIEWED, False)
    assert synonym.apply("Find the forklift.", 1.0, rng_for(1, "t")) == "Find the lift truck."
    assert synonym.apply("Find the traffic cone.", 1.0, rng_for(1, "t")) != "Find the traffic cone."
    assert decisions(row)["forklift"] == [("lift truck", "accepted"), ("<b>stacker</b>", "refused")]
    assert "never changes" in messages_of(later)[0]
    page = browser_of(Role.RESEARCHER).get("/operators/word-tables/ours/").content.decode()
    assert 'name="ok-0-0"' not in page


@pytest.mark.parametrize(
    ("state", "reason"),
    [(WordTableState.DRAFT, "Nothing is accepted yet."), (WordTableState.ASKING, "still being asked for")],
)
def test_a_review_cannot_be_finished_too_early(state, reason):
    row = make_table(state=state)

    answer = decide(row, do="finish")

    row.refresh_from_db()
    assert (row.state, reason in messages_of(answer)[0]) == (state, True)


def test_a_table_that_nobody_uses_can_be_deleted_and_one_that_a_search_names_cannot():
    free, used = make_table("free"), make_table("used")
    Campaign.objects.create(name="M", method="most", config={"synonym_table": "used"})

    decide(free, do="delete")
    answer = decide(used, do="delete")

    assert list(WordTableRecord.objects.values_list("slug", flat=True)) == ["used"]
    assert messages_of(answer) == [
        "A search names this table, so it stays. Make another one for other words."
    ]


def test_a_table_can_be_stopped_and_gone_on_with():
    create()
    row = WordTableRecord.objects.get()

    decide(row, do="stop")
    row.refresh_from_db()
    stopped = (row.state, row.error)
    decide(row, do="go-on")
    row.refresh_from_db()

    assert stopped == (WordTableState.FAILED, "It was stopped.")
    assert (row.state, row.error) == (WordTableState.ASKING, "")
    assert list(Job.objects.order_by("created_at").values_list("state", flat=True)) == ["failed", "queued"]


@pytest.mark.parametrize("values", [{"do": ""}, {"do": "burn"}, {"do": "save", "page": "²"}, {"do": "go-on"}])
def test_an_odd_request_changes_nothing(values):
    row = make_table()
    before = decisions(row)

    answer = decide(row, **values)

    assert (answer.status_code, answer.url) == (302, "/operators/word-tables/ours/")
    assert decisions(row) == before


def test_an_unknown_table_is_not_found():
    assert browser_of(Role.RESEARCHER).get("/operators/word-tables/none/").status_code == 404


def test_a_table_for_which_nothing_was_proposed_says_what_to_do():
    row = make_table()
    draft = StoredDraft(table=TableDraft(kind="synonym"))
    row.draft = with_answer(draft, TableProposal({}, {}), row.labels, source="tiny").model_dump(mode="json")
    row.save()

    page = browser_of(Role.RESEARCHER).get(f"/operators/word-tables/{row.slug}/").content.decode()

    assert "The system proposed nothing that can be used." in page
    assert (
        "proposed nothing"
        not in browser_of(Role.RESEARCHER).get(make_table("full").get_absolute_url()).content.decode()
    )
