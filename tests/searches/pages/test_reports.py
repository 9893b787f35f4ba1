"""Reports: everything inside one file, closed to the network, honest about what is left out."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from django.core.management import CommandError, call_command

from searches.models import Campaign, Finding, Sample
from searches.reports.document import csv_address, data_address
from searches.reports.findings import Showing
from searches.reports.pictures import PictureBox
from searches.reports.reports import find_reported, report_html
from searches.services.notes import add_note
from tests.factories import make_blob, make_campaign, make_run, make_sut
from tests.searches.explained import searched
from tests.searches.follow_up_factory import make_confirmation
from tests.searches.gate_factory import make_card, make_envelope, make_family, make_regression
from tests.searches.pages.modality_results import breaks_by_image, campaign_of
from tests.searches.pages.people import statuses
from vlmlab.core.errors import VlmLabError
from vlmlab.web.figures import validate_with_plotly

pytestmark = pytest.mark.django_db
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class Addresses(HTMLParser):
    """Every address of a page that a browser would open or follow."""

    def __init__(self):
        super().__init__()
        self.found, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found += [
            value for name, value in attrs if name in ("src", "href", "action", "srcset") and value
        ]


def report_of(campaign, **showing):
    return "".join(report_html(find_reported(campaign.pk), showing=Showing(**showing)))


def addresses_of(html):
    page = Addresses()
    page.feed(html)
    return page


@pytest.fixture
def confirmed():
    """A search whose three findings were confirmed, refuted and left open; every scene has a picture."""
    follow_up = make_confirmation()
    sha256 = make_blob().pk
    Sample.objects.update(image_sha256=sha256)
    return follow_up.follows


def test_a_report_holds_findings_with_their_fresh_evidence_confirmed_first(confirmed):
    html = report_of(confirmed)

    first, second, third = Finding.objects.order_by("pk")
    places = [html.index(f"<h3>Finding {one.pk}:") for one in (first, third, second)]
    assert places == sorted(places)
    assert "On 10 fresh scenes 9 answers were wrong, 1 of them invalid (90 %)" in html
    assert "62–99 %" in html
    assert "K = 3" in html
    assert "3 findings: 1 confirmed, 1 undetermined, 1 refuted." in html


def test_a_report_leads_nowhere_and_loads_nothing(confirmed):
    page = addresses_of(report_of(confirmed))

    assert page.found
    assert [one[:60] for one in page.found if not one.startswith("data:")] == []
    assert not {"link", "iframe", "form", "object", "embed"} & set(page.tags)


def test_its_policy_lets_only_its_own_scripts_run(confirmed):
    html = report_of(confirmed)

    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)[1]
    digests = [
        base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in SCRIPT.findall(html)
    ]
    assert len(digests) == 2
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == set(digests)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src" not in policy
    assert "unsafe-eval" not in policy


def test_what_people_and_systems_wrote_cannot_leave_its_place(confirmed, person):
    clean = addresses_of(report_of(confirmed)).tags.count("script")
    bad = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    Campaign.objects.filter(pk=confirmed.pk).update(name=bad)
    Sample.objects.update(raw_text=bad, prompt=bad)
    add_note(Finding.objects.first(), bad, by=person)

    page = addresses_of(report_of(confirmed))

    assert "x" not in page.found
    assert page.tags.count("script") == clean


def test_notes_are_in_it_without_names_unless_names_are_wanted(confirmed, person):
    add_note(Finding.objects.first(), "Seen by daylight too", by=person)

    assert "Seen by daylight too" in report_of(confirmed)
    assert person.username not in report_of(confirmed)
    assert f"Note of {person.username}" in report_of(confirmed, names=True)
    assert "Seen by daylight too" not in report_of(confirmed, notes=False)


def test_every_figure_is_known_to_plotly_and_leads_nowhere(confirmed):
    html = report_of(confirmed)
    payloads = re.findall(r'<script id="plot-[^"]+" type="application/json">(.*?)</script>', html, re.DOTALL)

    assert len(payloads) >= 2
    for text in payloads:
        figure = json.loads(text)["figure"]
        validate_with_plotly(figure)
        assert "customdata" not in text
        assert "/follow-ups/" not in text
    assert html.count("data:text/csv") >= len(payloads)


def test_it_says_how_to_repeat_and_what_it_does_not_show(confirmed):
    run = confirmed.runs.get()
    html = report_of(confirmed)

    assert "python manage.py run_search --method revelio" in html
    assert f"--seed {run.run_seed}" in html
    assert "What this does not show" in html
    assert "unknown, not safe" in html


def test_the_report_of_a_follow_up_holds_its_items(confirmed):
    html = report_of(confirmed.follow_ups.get())

    assert "Of 3 suspects 1 is confirmed, 1 refuted, 1 undetermined." in html
    assert "the evidence crossed its bar" in html


def test_a_search_with_explanations_has_them_by_system():
    run = searched()

    html = report_of(run.campaign)

    assert "Concepts: failure rate F, recognition R, regime" in html
    assert "What was shown at all" in html


def test_a_modality_campaign_has_its_profile_and_cases():
    html = report_of(campaign_of(breaks_by_image))

    assert "Sensitivity of System one" in html
    assert "Attack success" in html
    assert "7 failing cases." in html


def test_regressions_and_cards_have_their_verdicts():
    letters = {0: ("P" * 40, "F" * 40), 1: ("P" * 40, "P" * 40)}
    regression = make_regression(make_family(), letters)
    card = make_card(make_envelope(), {"near": (0, 400), "fog": (0, 100)}, sut=make_sut("calm"))

    assert "Verdict: fail" in report_of(regression)
    assert f"card-{card.pk}-cells" in report_of(card.campaign)


def test_a_campaign_without_runs_and_one_at_work_say_so():
    empty = make_campaign()
    working = make_run(state="running").campaign

    assert "Nothing was asked yet." in report_of(empty)
    assert "1 run had not ended when this was written" in report_of(working)


def test_pictures_are_taken_once_and_up_to_a_size():
    first, second = make_blob(b"\x89PNG" + b"a" * 60).pk, make_blob(b"\x89PNG" + b"b" * 60).pk
    box = PictureBox(most_bytes=100)

    taken = [box.take(sha, words="", caption="").address != "" for sha in (first, second, first, "0" * 64)]

    assert taken == [True, False, True, False]
    assert box.sentence == (
        "1 picture inside, 64 B. 1 picture left out, because a report takes at most 100 B of them. "
        "1 picture not kept by the lab any more."
    )


def test_a_table_as_an_address_reads_back_and_disarms_formulas():
    address = csv_address(("a", "b"), [("=1+1", 2), ("ä,", None)])

    text = base64.b64decode(address.partition("base64,")[2]).decode()
    assert text == 'a,b\r\n\'=1+1,2\r\n"ä,",\r\n'
    assert data_address(b"x", "image/png") == "data:image/png;base64,eA=="


def test_the_page_sends_a_file_and_pages_lead_to_it(browser, confirmed):
    run = confirmed.runs.get()
    response = browser.get(f"/reports/campaigns/{confirmed.pk}/")

    assert response.status_code == 200
    assert response.streaming
    assert re.fullmatch(
        rf'attachment; filename="vlmlab-report-{confirmed.pk}-\d{{4}}-\d\d-\d\d.html"',
        response["Content-Disposition"],
    )
    assert b"".join(response.streaming_content).endswith(b"</html>\n")
    link = f'href="/reports/campaigns/{confirmed.pk}/"'
    assert link in browser.get(f"/runs/{run.pk}/").content.decode()


def test_an_unknown_campaign_is_no_report(browser):
    assert browser.get("/reports/campaigns/999/").status_code == 404
    with pytest.raises(VlmLabError, match="no campaign 999"):
        find_reported(999)


def test_readers_may_take_reports(confirmed):
    found = statuses(f"/reports/campaigns/{confirmed.pk}/")

    assert found["researcher"] == 200


def test_the_command_writes_the_same_file(confirmed, tmp_path, capsys):
    target = tmp_path / "report.html"

    call_command("report", campaign=confirmed.pk, out=str(target))

    assert target.read_text(encoding="utf-8").endswith("</html>\n")
    assert str(target) in capsys.readouterr().out


@pytest.mark.parametrize("out", ["/nowhere/at/all.html"])
def test_the_command_refuses_what_it_cannot_do(confirmed, out):
    with pytest.raises(CommandError):
        call_command("report", campaign=confirmed.pk, out=out)
    with pytest.raises(CommandError, match="no campaign 999"):
        call_command("report", campaign=999, out="-")
