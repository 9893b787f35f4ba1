"""Rates, marks and chips as drawn, with the sentence a screen reader says."""

import re

import pytest

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web import evidence

DRIVING = load_domain("driving").ref


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()


def test_a_rate_reads_as_a_sentence_with_its_exact_interval():
    html = evidence.rate_html(31, 40, threshold=0.6)

    assert 'aria-label="31 of 40, 78 %, 95 % interval 62 % to 89 %"' in html
    assert text_of(html).endswith("78 % 31/40")


@pytest.mark.parametrize(
    ("fails", "n", "threshold", "css"),
    [
        (31, 40, 0.6, "rate over"),
        (27, 40, 0.6, "rate open"),
        (7, 20, 0.6, "rate under"),
        (7, 20, None, "rate"),
    ],
)
def test_the_colour_of_a_rate_says_where_its_whole_interval_lies(fails, n, threshold, css):
    assert evidence.rate_html(fails, n, threshold=threshold).startswith(f'<span class="{css}">')


def test_a_rate_of_nothing_is_not_measured():
    assert text_of(evidence.rate_html(0, 0)) == "not measured"


def test_the_threshold_stands_between_the_ends_of_the_bar():
    html = evidence.rate_html(3, 5, threshold=0.5)

    assert '<line class="r-tau" x1="46.0" x2="46.0"' in html


def test_samples_are_drawn_one_by_one_and_read_as_a_sentence():
    html = evidence.marks_html("FFP?-E")

    assert "<title>2 failed, 1 passed, 1 open, 1 not needed, 1 call error</title>" in html
    assert [int(place) for place in re.findall(r"translate\((\d+) 0\)", html)] == [0, 13, 26, 39, 52, 65]


@pytest.mark.parametrize(("is_final", "letters"), [(True, "FFFP-"), (False, "FFFP?")])
def test_what_a_set_did_not_ask_is_open_while_it_runs_and_not_needed_afterwards(is_final, letters):
    assert evidence.counted_marks(3, 1, total=5, is_final=is_final) == letters


def test_a_modifier_is_joined_to_the_entity_it_changes():
    html = evidence.chips_html(("cone", "far", "weather_wet"), DRIVING)

    assert html.count('class="chip"') == 2
    assert '<span>Cone</span><span class="mod">far</span>' in html
    assert 'title="cone + far"' in html


def test_a_modifier_stays_with_its_entity_in_whatever_order_the_set_is_given():
    concepts = ("wheelchair_pedestrian", "cone", "far", "weather_foggy")

    drawn = {evidence.chips_html(one, DRIVING) for one in (concepts, tuple(sorted(concepts)), concepts[::-1])}

    assert len(drawn) == 1
    assert '<span>Cone</span><span class="mod">far</span>' in drawn.pop()
    assert evidence.set_words(sorted(concepts), DRIVING) == "Wheelchair user + Cone, far + Fog"


def test_ids_that_the_domain_does_not_know_stand_as_they_are_and_escaped():
    html = evidence.chips_html(("cone", "<b>"), DRIVING)

    assert text_of(html) == "cone &lt;b&gt;"


def test_a_set_reads_as_plain_words():
    assert evidence.set_words(("cone", "far", "weather_wet"), DRIVING) == "Cone, far + Wet road"


def test_every_state_of_runs_jobs_and_findings_has_its_sign():
    from searches.enums import FindingState, JobState, RunState

    assert set(RunState) | set(JobState) <= set(evidence.BADGES)
    assert set(FindingState) == set(evidence.FINDING_SIGNS)


def test_only_running_moves():
    assert [state for state, (_, is_moving) in evidence.BADGES.items() if is_moving] == ["running"]


def test_an_icon_with_a_title_speaks_and_one_without_is_decoration():
    assert 'aria-label="Sign out"' in evidence.icon("leave", "Sign out")
    assert 'aria-hidden="true"' in evidence.icon("leave")
