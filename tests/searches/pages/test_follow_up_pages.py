"""Pages of follow-ups: the list, one with its items while it works and after, one item, steering, exports."""

import json

import pytest

from searches.enums import RunState
from searches.models import SearchRun
from tests.factories import make_finished_run, make_sut
from tests.searches.follow_up_factory import (
    make_confirmation,
    make_follow_up,
    make_follow_up_run,
    make_item,
)
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

READERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
TRAIL = [[4, 4, 1.2, -2.0], [8, 7, 2.9, -3.5], [10, 9, 4.2, -4.0]]


def text_of(path: str, role: Role = Role.REVIEWER) -> str:
    return browser_of(role).get(path).content.decode()


def with_trails(campaign):
    for item in campaign.items.all():
        level = {"low": 0.6, "high": 0.99, "level": 0.98}
        item.numbers |= {"trail": TRAIL, "interval": level, "log_e_needed": 3.4}
        item.save()
    return campaign


def running(**values: object):
    campaign = make_follow_up("confirm", follows=make_finished_run().campaign, config={"family_size": 2})
    run = make_follow_up_run(campaign, state=RunState.RUNNING, finished_at=None, **values)
    make_item(run, ("cone",), verdicts="")
    return campaign, run


def test_follow_up_pages_are_open_to_readers_only():
    campaign = make_confirmation()
    item = campaign.items.first()

    for path in (
        "/follow-ups/", "/follow-ups/planner/", f"/follow-ups/{campaign.pk}/",
        f"/follow-ups/{campaign.pk}/items/{item.pk}/", f"/follow-ups/{campaign.pk}/export.csv",
    ):  # fmt: skip
        assert statuses(path) == READERS_MAY, path
    assert statuses(f"/follow-ups/{campaign.pk}/pause/", method="post")["reviewer"] == 403


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_rows(rows, django_assert_num_queries):
    for _ in range(rows):
        make_confirmation()
    client = browser_of(Role.RESEARCHER)

    # session, person, navigation, systems, count, rows, states of runs, items, runs
    with django_assert_num_queries(9):
        page = client.get("/follow-ups/")

    assert (page.status_code, len(page.context["lines"])) == (200, rows)


def test_a_row_says_what_was_settled_and_what_it_cost():
    campaign = make_confirmation()

    [line] = browser_of(Role.REVIEWER).get("/follow-ups/").context["lines"]

    assert (line.n_items, line.n_settled, line.n_inferences) == (3, 3, 29)
    assert line.outcome == "1 confirmed, 1 refuted, 1 undetermined"
    assert line.suts == (campaign.runs.get().sut.name,)


def test_the_list_can_be_narrowed_by_kind_and_system():
    confirm, other = make_confirmation(), make_sut()
    probe = make_follow_up("probe", follows=confirm.follows)
    make_follow_up_run(probe, other)

    def shown(query: str) -> list[int]:
        lines = browser_of(Role.REVIEWER).get(f"/follow-ups/?{query}").context["lines"]
        return [line.campaign.pk for line in lines]

    assert shown("kind=probe") == [probe.pk]
    assert shown(f"sut={other.pk}") == [probe.pk]
    assert shown(f"follows={confirm.follows_id}") == [probe.pk, confirm.pk]
    assert shown("kind=nonsense") == [probe.pk, confirm.pk]


def test_an_empty_list_says_what_to_do():
    assert "No follow-up yet" in text_of("/follow-ups/")
    assert "Take away one filter" in text_of("/follow-ups/?kind=probe")


def test_a_confirmation_says_in_one_sentence_what_came_out():
    campaign = make_confirmation()

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/").context["page"]

    assert page.sentence == (
        "Of 3 suspects 1 is confirmed, 1 refuted, 1 undetermined. On average at most 10 % of what is "
        "confirmed this way is confirmed wrongly."
    )
    assert page.family_note.startswith("K = 3: all suspects of the search, counted before the first fresh")


def test_items_show_rate_interval_evidence_and_why_they_ended():
    campaign = with_trails(make_confirmation())

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/")
    lines = page.context["page"].lines

    assert [(line.item.state, line.reason) for line in lines] == [
        ("confirmed", "the evidence crossed its bar"),
        ("refuted", "the evidence crossed its bar"),
        ("undetermined", "the most scenes were asked"),
    ]
    assert [(line.interval.low, line.interval.level) for line in lines] == [(0.6, 0.98)] * 3
    assert "98 % interval 60–99 %" in page.content.decode()


def test_items_can_be_narrowed_to_a_state():
    campaign = make_confirmation()

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/?state=refuted").context["page"]

    assert [line.item.state for line in page.lines] == ["refuted"]


def test_the_race_has_a_mark_and_a_row_a_suspect_and_its_bars():
    campaign = with_trails(make_confirmation())

    chart = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/").context["chart"]

    validate_with_plotly(chart.spec)
    assert [(row[1], row[2]) for row in chart.rows] == [
        ("confirmed", 10), ("undetermined", 10), ("refuted", 10),
    ]  # fmt: skip
    assert chart.row_urls[0] == f"/follow-ups/{campaign.pk}/items/{campaign.items.first().pk}/"
    assert len(chart.spec["layout"]["shapes"]) == 1  # one confirmed: no bar for several
    assert chart.spec["layout"]["shapes"][0]["y0"] == 1.574  # log10 of K / (0.8 x 0.1) = 3 / 0.08


def test_a_running_follow_up_is_polled_and_unchanged_answers_are_304():
    campaign, run = running()
    client = browser_of(Role.REVIEWER)

    page = client.get(f"/follow-ups/{campaign.pk}/")
    first = client.get(f"/follow-ups/{campaign.pk}/progress/")
    same = client.get(f"/follow-ups/{campaign.pk}/progress/", headers={"If-None-Match": first["ETag"]})
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
    last = client.get(f"/follow-ups/{campaign.pk}/progress/", headers={"If-None-Match": first["ETag"]})

    assert f'hx-get="/follow-ups/{campaign.pk}/progress/"' in page.content.decode()
    assert (first.status_code, same.status_code, last.status_code) == (200, 304, 286)
    assert last["HX-Refresh"] == "true"


def test_a_follow_up_is_paused_resumed_and_ended():
    campaign, run = running()
    client = browser_of(Role.RESEARCHER)

    states = []
    for action in ("pause", "resume", "cancel"):
        client.post(f"/follow-ups/{campaign.pk}/{action}/")
        run.refresh_from_db()
        states.append(run.state)

    assert states == ["paused", "queued", "cancelled"]


def test_what_cannot_be_done_any_more_is_said():
    campaign = make_confirmation()

    page = browser_of(Role.RESEARCHER).post(f"/follow-ups/{campaign.pk}/pause/", follow=True)

    assert "Nothing of this follow-up can be paused now." in page.content.decode()


def test_the_run_of_a_follow_up_leads_to_the_follow_up():
    campaign = make_confirmation()

    answer = browser_of(Role.REVIEWER).get(f"/runs/{campaign.runs.get().pk}/")

    assert answer["Location"] == f"/follow-ups/{campaign.pk}/"


def test_an_item_shows_every_fresh_scene_with_its_evidence():
    campaign = with_trails(make_confirmation())
    item = campaign.items.first()

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/items/{item.pk}/")

    assert len(page.context["page"].shown) == 10
    assert [row[:2] for row in page.context["chart"].rows] == [(4, 4), (8, 7), (10, 9)]
    assert page.context["chart"].rows[-1][5] == 66.69  # exp(4.2)
    assert "<h2>Fresh scenes</h2>" in page.content.decode()


def test_an_item_of_another_follow_up_is_not_found():
    campaign, other = make_confirmation(), make_confirmation()

    answer = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/items/{other.items.first().pk}/")

    assert answer.status_code == 404


def test_the_exports_hold_all_items():
    campaign = make_confirmation()
    client = browser_of(Role.REVIEWER)

    csv = b"".join(client.get(f"/follow-ups/{campaign.pk}/export.csv").streaming_content).decode()
    everything = json.loads(b"".join(client.get(f"/follow-ups/{campaign.pk}/export.json").streaming_content))

    assert [line.split(",")[7] for line in csv.splitlines()] == [
        "state", "confirmed", "refuted", "undetermined",
    ]  # fmt: skip
    assert [item["n"] for item in everything["items"]] == [10, 10, 9]
    assert everything["config"]["family_size"] == 3
    assert client.get(f"/follow-ups/{campaign.pk}/export.xml").status_code == 404


def test_an_unknown_follow_up_is_not_found():
    assert browser_of(Role.REVIEWER).get("/follow-ups/987654/").status_code == 404


@pytest.mark.parametrize(
    ("kind", "states", "said"),
    [
        (
            "ablate",
            ["minimal", "reducible", "reducible"],
            "Of 3 sets, 1 needs all of its concepts, 2 also fail with fewer concepts.",
        ),
        ("interact", ["synergy", ""], "Of 2 pairs, 1 fails more together, 1 still open."),
        ("probe", ["measured"], "The set is measured."),
    ],
)
def test_other_kinds_say_what_came_out_in_their_words(kind, states, said):
    campaign = make_follow_up(kind, follows=make_finished_run().campaign)
    run = make_follow_up_run(campaign)
    for number, state in enumerate(states):
        make_item(run, (("cone",), ("cyclist",), ("bus_stop",))[number], state=state)

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/")

    assert (page.status_code, page.context["page"].sentence) == (200, said)


def test_a_re_test_as_published_gives_the_row_of_the_table():
    campaign = make_confirmation(config={"protocol": "paper"})

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/{campaign.pk}/").context["page"]

    # rates 9/10, 1/10 and 5/9: mean 0.5185, standard deviation over n 0.3277
    assert page.sentence == (
        "Re-test as published: the mean failure rate of 3 sets is 52 %, standard deviation 33 points; "
        "1 of 3 fail in at least 80 % of the fresh scenes."
    )


def test_a_run_says_how_far_its_findings_are_trusted_and_offers_to_confirm_them():
    before = make_finished_run()
    campaign = make_confirmation()
    after = campaign.follows.runs.get()

    pages = [text_of(f"/runs/{run.pk}/", Role.RESEARCHER) for run in (before, after)]

    assert "2 suspects wait for fresh scenes." in pages[0]
    assert f"/follow-ups/new/?kind=confirm&amp;run={before.pk}" in pages[0]
    assert "1 confirmed, 1 refuted, 1 undetermined." in pages[1]
    assert f'href="/follow-ups/{campaign.pk}/">{campaign.name}</a>' in pages[1]
    assert "Confirm what was found" not in pages[1]
