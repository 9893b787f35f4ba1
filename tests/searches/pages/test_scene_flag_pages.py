"""Flags on generated scenes: saying, withdrawing, adjusted rates, the list."""

import pytest

from searches.enums import SceneFlagKind
from searches.models import AuditEntry, Sample, SceneFlag
from searches.services.scene_flags import (
    AdjustedCounts,
    adjusted_counts,
    flag_sample,
    flagged_samples,
    withdraw_flag,
)
from tests.factories import make_blob, make_finding, make_run, make_trial, make_user
from tests.searches.follow_up_factory import make_confirmation
from vlmlab.core.errors import VlmLabError
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

NOISE, FINE, OTHER = SceneFlagKind.NOISE, SceneFlagKind.FINE, SceneFlagKind.OTHER
READERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}


def scene(verdicts: str = "FFP", number: int = 0) -> Sample:
    trial = make_trial(make_run(), ("cone",), verdicts=verdicts)
    make_finding(trial)
    return trial.samples.get(number=number)


def test_a_flagged_scene_leaves_the_counts_and_comes_back_when_the_flag_is_withdrawn():
    sample, person = scene("FFPI"), make_user()

    [flag] = flag_sample(sample, [NOISE], by=person)
    flagged = adjusted_counts([sample.trial_id])
    withdraw_flag(flag, by=person)

    assert flagged == {sample.trial_id: AdjustedCounts(fails=2, n=3, flagged=1, flagged_fails=1)}
    assert adjusted_counts([sample.trial_id]) == {}
    assert SceneFlag.objects.count() == 1  # a withdrawn flag stays as a row


def test_a_scene_that_is_said_to_be_fine_stays_in_the_counts():
    sample = scene()

    flag_sample(sample, [FINE], by=make_user())

    assert adjusted_counts([sample.trial_id]) == {}
    assert list(flagged_samples(Sample.objects.all())) == []


def test_call_errors_are_no_answers_with_or_without_a_flag():
    sample = scene("FFPE", number=3)

    flag_sample(sample, [NOISE], by=make_user())

    assert adjusted_counts([sample.trial_id]) == {}


def test_several_things_can_be_wrong_and_a_second_statement_takes_the_place_of_the_first():
    sample, person, other = scene(), make_user(), make_user()
    flag_sample(sample, [NOISE, SceneFlagKind.QUESTION], by=person)
    flag_sample(sample, [NOISE], by=other)

    flag_sample(sample, [SceneFlagKind.QUESTION, SceneFlagKind.ANSWER], by=person)

    held = SceneFlag.objects.filter(withdrawn_at=None).values_list("author_id", "kind")
    assert sorted(held) == [
        (person.pk, "answer_wrong"), (person.pk, "question"), (other.pk, "noise"),
    ]  # fmt: skip


def test_saying_the_same_again_adds_nothing():
    sample, person = scene(), make_user()

    first = flag_sample(sample, [NOISE], by=person)
    second = flag_sample(sample, [NOISE], by=person)

    assert [one.pk for one in first] == [one.pk for one in second]
    assert AuditEntry.objects.filter(verb="flagged").count() == 1


@pytest.mark.parametrize(
    ("kinds", "comment", "field"),
    [
        ([], "", "kinds"),
        (["nonsense"], "", "kinds"),
        ([FINE, NOISE], "", "kinds"),
        ([OTHER], " ", "comment"),
        ([NOISE], "x" * 2001, "comment"),
    ],
)
def test_a_statement_that_makes_no_sense_is_refused(kinds, comment, field):
    with pytest.raises(VlmLabError) as caught:
        flag_sample(scene(), kinds, comment=comment, by=make_user())

    assert caught.value.field == field


def test_a_reviewer_may_withdraw_only_what_they_said():
    author, reviewer = make_user(Role.REVIEWER), make_user(Role.REVIEWER)
    [flag] = flag_sample(scene(), [NOISE], by=author)

    with pytest.raises(VlmLabError):
        withdraw_flag(flag, by=reviewer)
    withdraw_flag(flag, by=make_user(Role.RESEARCHER))

    flag.refresh_from_db()
    assert flag.withdrawn_at is not None


def test_a_reviewer_flags_a_scene_on_its_page_and_withdraws_it():
    sample, client = scene(), browser_of(Role.REVIEWER)
    page = f"/findings/{sample.trial.finding.pk}/?sample=0"

    answer = client.post(f"/scenes/{sample.pk}/flag/", {"kinds": ["noise"], "next": f"{page}#sample"})
    shown = client.get(page).content.decode()
    client.post(f"/scenes/flags/{SceneFlag.objects.get().pk}/withdraw/")

    assert answer["Location"] == f"{page}#sample"
    assert '<span class="strong">Image generation failure or noise</span>' in shown
    assert '<span class="flag">Flagged</span>' in shown
    assert SceneFlag.objects.get().withdrawn_at is not None


def test_where_to_return_to_is_never_another_site():
    sample = scene()

    answer = browser_of(Role.REVIEWER).post(
        f"/scenes/{sample.pk}/flag/", {"kinds": ["noise"], "next": "//evil.example/"}
    )

    assert answer["Location"] == f"/runs/{sample.run_id}/sets/{sample.trial_id}/?sample=0#sample"


def test_what_is_wrong_with_a_flag_is_said():
    sample = scene()

    page = browser_of(Role.REVIEWER).post(f"/scenes/{sample.pk}/flag/", {"kinds": ["other"]}, follow=True)

    assert "Say in a few words what is wrong." in page.content.decode()
    assert SceneFlag.objects.count() == 0


def test_a_finding_shows_the_fresh_rate_without_flagged_scenes_beside_the_full_one():
    item = make_confirmation().items.first()
    fresh = item.run.samples.filter(verdict="fail").first()
    flag_sample(fresh, [NOISE], by=make_user())

    page = browser_of(Role.REVIEWER).get(f"/findings/{item.finding_id}/")

    assert page.context["trail"].adjusted == AdjustedCounts(fails=8, n=9, flagged=1, flagged_fails=1)
    assert "1 fresh scene is flagged and left out here" in page.content.decode()
    assert "Fresh 9 of 10, 90 %" in page.content.decode()


def test_the_list_of_flags_is_open_to_readers_only_and_can_be_narrowed():
    first, second = scene(), scene()
    flag_sample(first, [NOISE], by=make_user())
    [flag] = flag_sample(second, [SceneFlagKind.QUESTION], by=make_user())
    withdraw_flag(flag, by=None)

    def shown(query: str) -> list[int]:
        page = browser_of(Role.REVIEWER).get(f"/scenes/flags/?{query}").context["page_obj"]
        return [one.sample_id for one in page]

    assert statuses("/scenes/flags/") == READERS_MAY
    assert shown("") == [first.pk]
    assert shown("withdrawn=on") == [second.pk, first.pk]
    assert shown(f"run={second.run_id}") == []
    assert shown("kind=question&withdrawn=on") == [second.pk]


def test_the_list_shows_pictures_that_are_kept_and_says_of_others_that_they_are_not():
    kept, gone = scene(), scene()
    Sample.objects.filter(pk=kept.pk).update(image_sha256=make_blob().sha256)
    Sample.objects.filter(pk=gone.pk).update(image_sha256="0" * 64)
    for one in (kept, gone):
        flag_sample(one, [NOISE], by=make_user())

    text = browser_of(Role.REVIEWER).get("/scenes/flags/").content.decode()

    assert text.count('<img class="thumb"') == text.count("not kept") == 1
    assert "0" * 64 not in text


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_rows(rows, django_assert_num_queries):
    for _ in range(rows):
        flag_sample(scene(), [NOISE], by=make_user())
    client = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(5):  # session, person, navigation, count, rows
        page = client.get("/scenes/flags/")

    assert len(page.context["page_obj"]) == rows
