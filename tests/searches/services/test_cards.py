"""Envelopes and cards: what is declared and refused, the verdict, what was not tested, files."""

import json
import re
import subprocess

import pytest
import yaml
from scipy.stats import beta

from searches.enums import FindingState, RunState
from searches.models import Envelope, FollowUpSource, Sample
from searches.services import pdf
from searches.services.card_exports import card_file
from searches.services.cards import card_page, settle_cards
from searches.services.envelope_pages import preview_envelope
from searches.services.envelope_text import (
    check_alternatives,
    read_envelope_file,
    read_group,
    read_sets,
    write_envelope_file,
    write_group,
    write_sets,
)
from searches.services.envelope_wishes import card_wish
from searches.services.envelopes import (
    archive_envelope,
    create_envelope,
    edit_envelope,
    file_values,
    stored_of,
    values_of_file,
)
from searches.services.pdf import chromium_path, print_to_pdf
from searches.services.scene_flags import flag_sample
from tests.factories import make_finding, make_run, make_sut, make_trial
from tests.searches.gate_factory import CELLS, make_card, make_confirmed, make_envelope
from tests.serve.labs import is_alive, wait_until
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.verdicts.queries import block_of

pytestmark = pytest.mark.django_db
DRIVING = load_domain("driving")


# --- words and files -----------------------------------------------------------------------------------
def test_concepts_are_read_as_people_write_them_labels_with_a_comma_included():
    assert read_group(DRIVING, "Debris, near, Cone; near") == ("debris_near", "cone", "near")
    assert read_group(DRIVING, "debris, NEAR , foggy") == ("debris_near", "weather_foggy")
    assert len(read_group(DRIVING, "all weather; Cone")) == 7
    assert read_group(DRIVING, " ; ,") == ()


def test_what_is_written_is_read_again():
    every = [one.id for one in DRIVING.concepts]

    assert write_group(DRIVING, every[-6:]) == "all Weather"
    assert read_group(DRIVING, write_group(DRIVING, every)) == tuple(every)
    sets = read_sets(DRIVING, "Cone; near : 2.5\nDebris, near")
    assert [(one.concepts, one.weight) for one in sets] == [(("cone", "near"), 2.5), (("debris_near",), 1.0)]
    assert read_sets(DRIVING, write_sets(DRIVING, sets)) == sets


def test_a_changed_thing_is_no_alternative_of_a_line():
    """ "Cone, near", as findings write it, would let every cone in, and everything that is near."""
    with pytest.raises(VlmLabError, match="“Cone, near” names two concepts"):
        check_alternatives(DRIVING, "Debris, near; Cone, near")
    for fine in (
        "Debris, near; Container, near",
        "Cone; near",
        "Cone, Bus stop",
        "all Weather",
        "Nothing, known",
    ):
        check_alternatives(DRIVING, fine)


def test_an_unknown_concept_or_weight_is_a_sentence_with_the_nearest_name():
    with pytest.raises(VlmLabError, match="has no concept “Coney”"):
        read_group(DRIVING, "Coney")
    with pytest.raises(VlmLabError, match="is not a weight"):
        read_sets(DRIVING, "Cone : many")


@pytest.mark.parametrize("fmt", ["yaml", "json"])
def test_a_file_declares_the_same_envelope_again(fmt):
    first = make_envelope()
    text = write_envelope_file(file_values(first), fmt)

    domain, values = values_of_file(read_envelope_file(text))
    second = create_envelope(domain, values, by=None)

    assert stored_of(second) == stored_of(first)
    assert (second.slug, second.domain_version) == ("city-streets-2", first.domain_version)
    assert yaml.safe_load(text)["cells"][0]["limit"] == 0.02  # said even where it is the default


def test_a_file_that_is_none_is_refused():
    for text in ("- a\n- b", "name: [", "a: &a [*a]"):
        with pytest.raises(VlmLabError):
            read_envelope_file(text)
    with pytest.raises(VlmLabError, match="There is no domain"):
        values_of_file({"domain": "moon", "cells": []})
    with pytest.raises(VlmLabError, match="cells must be a list"):
        values_of_file({"domain": "driving", "cells": "all"})


# --- declaring -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("cells", "said", "field"),
    [
        ([{"includes": [["cone"], ["moon"]]}], "no concept “moon”", "cells.0.includes"),
        ([{"includes": [["light_red"], ["light_green"]]}], "No valid set fits", "cells.0.includes"),
        ([{}, {"id": "b", "limit": 1.5}], "Limit", "cells.1.limit"),
        ([{"limit": 1e-5}], "more than 20,000 scenes would be needed", "cells.0.limit"),
        ([{"colour": "red"}], "colour", "cells.0.colour"),
        ([], "at least one cell", "cells"),
    ],
)
def test_what_cannot_be_declared_is_refused_at_its_cell(cells, said, field):
    rows = [{"id": "a", "title": "A", "includes": [["cone"]]} | one for one in cells]

    with pytest.raises(VlmLabError, match=said) as error:
        create_envelope(DRIVING, {"name": "Streets", "cells": rows}, by=None)

    assert error.value.field == field
    assert not Envelope.objects.exists()


def test_the_preview_says_what_a_cell_holds_and_takes():
    preview = preview_envelope(DRIVING, stored_of(make_envelope()))

    near = preview.cells[0]
    assert [cell.planned for cell in preview.cells] == [183, 36]  # ln(.025) / ln(.98) and / ln(.9)
    assert near.sizes[0] == (1, 1)
    assert near.members == sum(number for _, number in near.sizes)
    assert near.by_expected == (("emergency_stop", 1.0),)
    assert near.examples[0] == ("debris_near",)
    assert (preview.planned, preview.sets) == (219, 110_664)
    assert preview.overlaps == (("Near obstacles", "Fog", 1),)


def test_a_card_asks_every_system_the_same_draws_and_another_card_other_ones():
    envelope, suts = make_envelope(), [make_sut("one"), make_sut("two")]

    first, second = card_wish(envelope, suts), card_wish(envelope, suts)

    (_, mine), (_, others) = first.items
    assert [one.arms for one in mine] == [one.arms for one in others]
    assert [one.arms for one in mine] != [one.arms for one in second.items[0][1]]
    assert [len(one.arms) for one in mine] == [183 + 91, 36 + 18]
    assert all("debris_near" in key for key in mine[0].arms)
    archive_envelope(envelope, is_archived=True, by=None)
    with pytest.raises(VlmLabError, match="is archived"):
        card_wish(envelope, suts)


# --- the card ------------------------------------------------------------------------------------------
def test_a_card_passes_with_its_bound_and_only_where_every_cell_does():
    envelope = make_envelope()

    passed = card_page(make_card(envelope, {"near": (0, 183), "fog": (0, 36)}))
    open_one = card_page(make_card(envelope, {"near": (0, 183), "fog": (2, 36)}))
    failed = card_page(make_card(envelope, {"near": (12, 183), "fog": (0, 36)}))

    assert [page.verdict for page in (passed, open_one, failed)] == ["pass", "not_enough", "fail"]
    assert passed.sentence == (
        f"{passed.run.sut.name} stays within every limit at 95 % confidence for all cells together; no cell "
        "has more than 9.74 %."
    )
    assert "that is no pass" in open_one.sentence
    assert "above the limit in Near obstacles" in failed.sentence


def test_bounds_are_those_of_scipy_at_the_corrected_level_and_totals_weigh_them():
    page = card_page(make_card(make_envelope(), {"near": (1, 183), "fog": (0, 36)}))

    near, fog = page.reading.cells
    assert near.high == pytest.approx(beta.ppf(0.975, 2, 182))  # 1 - .05 / 2 cells
    assert near.low == pytest.approx(beta.ppf(0.025, 1, 183))
    assert fog.high == pytest.approx(1 - 0.025 ** (1 / 36))
    assert page.reading.exposure.value == pytest.approx((2 * 1 / 183 + 0) / 3)
    assert page.reading.harm.high == pytest.approx((20 * near.high + 1 * fog.high) / 3)


def test_a_card_gives_no_verdict_while_its_run_works():
    page = card_page(make_card(make_envelope(), {"near": (9, 9), "fog": (0, 0)}, state=RunState.RUNNING))

    assert (page.verdict, page.reading, page.cells[0].verdict) == ("", None, "")
    assert page.cells[0].sentence == "9 of 183 scenes are answered."


@pytest.mark.parametrize("state", [RunState.CANCELLED, RunState.FAILED])
def test_a_card_that_was_halted_has_no_verdict_whatever_was_answered(state):
    run = make_card(make_envelope(), {"near": (0, 183), "fog": (36, 36)}, state=state)

    page = card_page(run)
    settle_cards(run.campaign)

    assert (page.verdict, page.reading) == ("", None)
    assert page.sentence.startswith("There is no verdict, because not every scene was asked: the run is ")
    assert FollowUpSource.objects.get().spec["verdicts"] == {str(run.pk): "halted"}


def test_a_card_keeps_the_envelope_as_it_stood():
    envelope = make_envelope()
    run = make_card(envelope, {"near": (0, 183), "fog": (0, 36)})

    edit_envelope(envelope, DRIVING, {"name": "Other", "cells": CELLS[:1]}, by=None)

    assert (len(card_page(run).cells), card_page(run).stored.name) == (2, "City streets")


def test_confirmed_modes_inside_the_envelope_are_shown_the_worst_first():
    run = make_card(make_envelope(), {"near": (0, 183), "fog": (0, 36)})
    searched = make_run(run.sut)
    mild = make_confirmed(searched, ("debris_near",), fresh_fails=14)
    bad = make_confirmed(searched, ("debris_near", "weather_foggy"))
    make_confirmed(searched, ("cone",))  # outside
    make_confirmed(make_run(make_sut()), ("debris_near",))  # of another system
    make_finding(make_trial(searched, ("weather_foggy",)), state=FindingState.SUSPECTED)

    page = card_page(run)

    assert [(mode.finding.pk, mode.cells) for mode in page.modes] == [
        (bad.pk, ("Near obstacles", "Fog")),
        (mild.pk, ("Near obstacles",)),
    ]


def test_a_card_says_which_concepts_were_never_drawn_and_leaves_flagged_scenes_out():
    run = make_card(make_envelope(), {"near": (1, 4), "fog": (0, 36)})
    block = block_of("cell", "near")
    make_trial(run, ("debris_near",), verdicts="FPP", block=block)
    make_trial(run, ("debris_near", "weather_foggy"), verdicts="P", block=block)
    flag_sample(Sample.objects.filter(run=run, verdict="fail").get(), ["noise"], by=None)

    near = card_page(run).cells[0]

    assert (near.counts.errors, near.counts.n, near.flagged) == (0, 3, 1)
    assert near.drawn == 2
    assert "cone" in near.never_drawn
    assert "weather_foggy" not in near.never_drawn


def test_verdicts_are_kept_for_lists():
    run = make_card(make_envelope(), {"near": (12, 183), "fog": (0, 36)})

    settle_cards(run.campaign)

    assert FollowUpSource.objects.get(campaign=run.campaign).spec["verdicts"] == {str(run.pk): "fail"}


# --- files ---------------------------------------------------------------------------------------------
def test_the_page_for_files_needs_nothing_outside_it_and_escapes_what_people_wrote():
    envelope = make_envelope(name="Streets <script>alert(1)</script>")
    run = make_card(envelope, {"near": (0, 183), "fog": (0, 36)})
    make_confirmed(make_run(run.sut), ("debris_near",))

    html = card_file(card_page(run), "html")

    assert "<script" not in html
    assert "Streets &lt;script&gt;" in html
    assert not any(sign in html for sign in ('href="', 'src="/', "url(", "@import"))
    assert 'src="data:image/png;base64,' in html
    assert json.loads(card_file(card_page(run), "json"))["verdict"] == "pass"


@pytest.mark.skipif(not chromium_path(), reason="no Chromium on this machine; set VLMLAB_CHROMIUM to one")
def test_a_card_is_printed_to_a_pdf_of_a4_pages():
    run = make_card(make_envelope(), {"near": (0, 183), "fog": (0, 36)})

    pdf = print_to_pdf(card_file(card_page(run), "html"))

    assert pdf.startswith(b"%PDF-")
    boxes = {tuple(map(round, map(float, box.split()))) for box in re.findall(rb"/MediaBox \[([^]]+)\]", pdf)}
    assert boxes == {(0, 0, 595, 842)}  # 210 x 297 mm at 72 points an inch


def test_without_a_chromium_the_sentence_says_how_else(settings):
    settings.CHROMIUM = "/nonexistent/chromium"

    with pytest.raises(VlmLabError, match="print it to a PDF with your browser"):
        print_to_pdf("<p>Hello</p>")


def test_a_file_for_a_version_that_is_not_here_is_not_declared_in_another_one():
    content = {"name": "City", "domain": "driving", "domain_version": "0.0.1", "cells": [{"title": "Near"}]}

    with pytest.raises(VlmLabError, match="of Driving is not in this lab") as refused:
        values_of_file(content)

    assert refused.value.field == "file"
    kept = load_domain("driving").version
    assert values_of_file(content | {"domain_version": kept})[0].version == kept


def test_a_flagged_scene_is_in_no_count_of_a_card():
    run = make_card(make_envelope(), {"near": (2, 4), "fog": (0, 0)})
    trial = make_trial(
        run, ("debris_near",), verdicts="FIPP", block=block_of("cell", "near"), status="open",
        expected_action="emergency_stop",
    )  # fmt: skip
    run.items.filter(block=block_of("cell", "near")).update(
        numbers={"errors": 2, "invalid": 1, "planned": 183, "lost": {}}
    )
    flag_sample(trial.samples.get(answer_status="invalid"), ["noise"], by=None)

    page = card_page(run)

    near = page.cells[0]
    assert (near.counts.errors, near.counts.n, near.fails, near.invalid, near.flagged) == (1, 3, 1, 0, 1)
    assert [(one.action, one.fails, one.n) for one in page.expected] == [("emergency_stop", 1, 3)]


def test_a_browser_that_hangs_is_ended_with_all_that_it_started(tmp_path, settings, monkeypatch):
    browser, started = tmp_path / "browser", tmp_path / "started"
    browser.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {started}\nwait\n")
    browser.chmod(0o755)
    settings.CHROMIUM = str(browser)
    monkeypatch.setattr(pdf, "SECONDS", 0.1)
    popen = subprocess.Popen

    def start(*command, **options):
        process = popen(*command, **options)
        wait_until(lambda: started.exists() and started.read_text().endswith("\n"), "it starts its own")
        return process

    monkeypatch.setattr(pdf.subprocess, "Popen", start)

    with pytest.raises(VlmLabError, match="printed nothing"):
        print_to_pdf("<p>A card</p>")

    wait_until(lambda: not is_alive(int(started.read_text())), "all that it started ends")
