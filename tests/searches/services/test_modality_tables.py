"""Tables of a modality campaign beside hand-worked counts, the core and other people's statistics."""

import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from searches.services.modality_profiles import campaign_offer, left_out_sentence, profile_page
from searches.services.modality_tables import Choice, families_of, numbers_by_regime, shown_rows, stars
from searches.services.modality_tables_claims import CLAIMS, judged_claims
from searches.services.modality_tables_comparison import all_sides, compare_sides
from searches.services.modality_tables_operators import budget_lines, operator_cases, operator_lines
from tests.factories import make_sut
from tests.searches.modality_factory import (
    Ending,
    make_drawn_campaign,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.core.most.comparisons import IMAGE_JOINT, TEXT_JOINT
from vlmlab.core.most.outcomes import FailureCriterion

pytestmark = pytest.mark.django_db
C1, C2, C3 = FailureCriterion


def broken(**values):
    return Ending(iou=0.2, severities={"fog": 0.4, "casing": 0.1}, first_hit=4, evaluations=5, **values)


def worked(place):
    """Of ten, one is wrong before. Image: 6 below, 1 empty, 1 malformed, 1 held. Text: 2 below. Joint: 8."""
    if place.number == 9:
        return Ending("baseline_failure", clean_iou=0.2, evaluations=0)
    if place.regime == "image":
        if place.number in (6, 7):
            return Ending(answer="empty" if place.number == 6 else "malformed", severities={"fog": 0.5})
        return broken() if place.number < 6 else Ending()
    if place.regime == "text":
        return broken(ned=0.3) if place.number < 2 else Ending(ned=0.1)
    return broken(ned=0.1) if place.number < 8 else Ending()


@pytest.fixture
def campaign():
    made = make_modality_campaign(make_seed_dataset(10, strata=("street",)))
    make_grid(made, suts=[make_sut("one")], ended=worked)
    return made


def numbers_of(campaign, **choice):
    return {one.regime: one for one in numbers_by_regime(shown_rows(campaign, Choice(sut="one", **choice)))}


def test_rates_under_each_criterion_are_those_counted_by_hand(campaign):
    outcomes = numbers_of(campaign)["image"].effectiveness.outcomes

    assert (outcomes.below, outcomes.empty, outcomes.malformed, outcomes.held) == (6, 1, 1, 1)
    assert outcomes.baseline_failures == 1
    assert [outcomes.attack_success(one).numerator for one in (C1, C2, C3)] == [6, 7, 8]
    assert outcomes.finished == 9


def test_intervals_are_those_of_statsmodels(campaign):
    rate = numbers_of(campaign)["image"].effectiveness.outcomes.attack_success(C1)

    assert rate.interval() == pytest.approx(proportion_confint(6, 9, method="wilson"))


def test_the_first_hit_is_a_median_over_runs_that_have_one(campaign):
    numbers = numbers_of(campaign)

    assert (numbers["image"].median_first_hit, len(numbers["image"].first_hits)) == (4, 6)


def test_mcnemar_and_holm_are_those_of_statsmodels(campaign):
    family = families_of(campaign, Choice(), is_pooled=False)["asr_c1"]
    found = {one.regimes: one for one in family.comparisons}

    # image and joint: fails only in image 0, only in joint 2 (seeds 6, 7); text and joint: 0 and 6
    raw = [
        mcnemar([[0, one.first_larger], [one.second_larger, 0]], exact=True).pvalue
        for one in family.comparisons
    ]
    assert (found[IMAGE_JOINT].first_larger, found[IMAGE_JOINT].second_larger) == (0, 2)
    assert (found[TEXT_JOINT].first_larger, found[TEXT_JOINT].second_larger) == (0, 6)
    assert [one.p_value for one in family.comparisons] == pytest.approx(raw)
    assert [one.p_adjusted for one in family.comparisons] == pytest.approx(
        multipletests(raw, method="holm")[1]
    )
    assert family.size == 3


def test_wilcoxon_is_that_of_scipy():
    made = make_drawn_campaign(40, n_suts=1)
    rows = shown_rows(made, Choice())
    family = families_of(made, Choice(), is_pooled=True)["evaluations"]
    runs = [row.result for row in rows if row.result.case]
    image, joint = (
        {run.seed_image: run.evaluations for run in runs if run.regime == regime}
        for regime in ("image", "joint")
    )
    seeds = sorted(image.keys() & joint.keys())

    found = next(one for one in family.comparisons if one.regimes == IMAGE_JOINT)

    first, second = [image[seed] for seed in seeds], [joint[seed] for seed in seeds]
    expected = stats.wilcoxon(first, second, zero_method="pratt", method="asymptotic")
    assert found.n == len(seeds)
    assert found.p_value == pytest.approx(expected.pvalue, rel=0.05)


def test_a_family_is_the_same_whatever_is_looked_at():
    made = make_drawn_campaign(12)
    one, other = made.modality_runs.values_list("sut__slug", flat=True).distinct().order_by("sut__slug")

    first = families_of(made, Choice(sut=one, stratum="street", criterion=C1), is_pooled=False)
    second = families_of(made, Choice(sut=other, criterion=C3), is_pooled=False)

    assert first is second
    assert first["swtd"].size + first["swtd"].untested == 2 * 2 * 3
    pooled = families_of(made, Choice(sut=one), is_pooled=True)
    assert pooled["swtd"].size == 2 * 3


def test_a_system_of_which_too_few_runs_end_with_boxes_is_named_and_left_out():
    made = make_modality_campaign(make_seed_dataset(10, strata=("street",)))
    blind = lambda _: Ending("baseline_failure", clean_answer="malformed")  # noqa: E731
    make_grid(made, suts=[make_sut("seeing")], ended=worked)
    make_grid(made, suts=[make_sut("blind", name="Blind one")], ended=blind)

    offer = campaign_offer(made)

    assert [slug for slug, _ in offer.suts] == ["seeing", "blind"]
    assert left_out_sentence(made, offer, Choice()).startswith(
        "Blind one: fewer than 5 % of the runs end with boxes"
    )
    family = families_of(made, Choice(), is_pooled=False)["asr_c1"]
    assert {one.sut for one in family.comparisons} == {"seeing"}


def test_the_page_says_what_was_found(campaign):
    page = profile_page(campaign, Choice(sut="one"))

    assert page.sentence == (
        "Image perturbations break this system on 6 of 9 seed images, text perturbations on 2 of 9 and both "
        "together on 8 of 9. Adding text to image makes no difference that this campaign can show (p = 0.50)."
    )
    assert (page.facts.total, page.facts.eligible, page.facts.baseline_failures) == (10, 9, 1)
    assert page.facts.boxes_share == 28 / 30  # all but the empty and the malformed one
    assert page.n_failing == 6 + 2 + 8
    assert page.rates[0].numbers[0].text == "6 / 9"
    assert (
        page.rates[1].numbers[0].address == f"/modality/{campaign.pk}/runs/?sut=one&regime=image&outcome=c2"
    )
    assert [pair.title for pair in page.rates[0].pairs] == ["Image, joint", "Text, joint", "Image, text"]
    assert page.rates[0].family_size == 3


def test_stars_follow_the_adjusted_p_value(campaign):
    page = profile_page(campaign, Choice(sut="one"))
    text_joint = page.rates[0].pairs[1]

    assert text_joint.comparison.p_adjusted == pytest.approx(3 * 2 / 2**6)
    assert (stars(text_joint.comparison), stars(None)) == ("", "")


def test_shares_of_the_budget_sum_to_one_a_regime(campaign):
    cases = operator_cases(campaign, shown_rows(campaign, Choice(sut="one")))

    lines = {line.name: line for line in budget_lines(cases)}

    # image: six cases of 0.4 fog and 0.1 casing, two of fog alone: (6 * 0.8 + 2) / 8
    assert lines["fog"].shares["image"] == pytest.approx((6 * 0.8 + 2) / 8)
    assert lines["fog"].shares["text"] is None
    for regime, touched in (("image", "image"), ("joint", None)):
        total = sum(line.shares[regime] or 0.0 for line in lines.values() if touched in (None, line.modality))
        assert total == pytest.approx(1.0 if touched is None else (6 * 0.8 + 2) / 8)


def test_small_operators_are_put_together(campaign):
    cases = operator_cases(campaign, shown_rows(campaign, Choice(sut="one")))

    lines = budget_lines(cases, most={"image": 1, "text": 1})

    assert [line.title for line in lines] == ["fog", "other image, 25", "casing", "other text, 14"]


def test_operators_are_ranked_by_the_failures_in_which_they_act(campaign):
    image = [row for row in shown_rows(campaign, Choice(sut="one")) if row.result.regime == "image"]

    first, *_ = operator_lines(operator_cases(campaign, image), C3)

    assert (first.name, first.in_failures.numerator, first.in_failures.denominator) == ("fog", 8, 8)
    assert (first.alone.numerator, first.alone.denominator) == (2, 8)
    assert first.mean_severity == pytest.approx((6 * 0.4 + 2 * 0.5) / 8)
    assert (first.in_held.numerator, first.in_held.denominator) == (0, 1)


def two_systems():
    made = make_modality_campaign(make_seed_dataset(8, strata=("street",)))
    make_grid(made, suts=[make_sut("weak")], ended=lambda one: broken(), regimes=("image",))
    make_grid(
        made,
        suts=[make_sut("strong")],
        ended=lambda one: broken() if one.number == 7 else Ending(),
        regimes=("image",),
    )
    return made


def test_two_systems_are_compared_on_common_seed_images():
    two_systems()
    sides = {side.sut: side for side in all_sides()}

    found = compare_sides(sides["weak"], sides["strong"], criterion=C1)

    (image,) = found.differences
    assert (image.first.numerator, image.second.numerator, image.first.denominator) == (8, 1, 8)
    assert (image.only_first, image.only_second) == (7, 0)
    assert image.p_value == pytest.approx(mcnemar([[1, 7], [0, 0]], exact=True).pvalue)
    assert image.difference_text == "+88 points"
    turned = compare_sides(sides["strong"], sides["weak"], criterion=C1)
    assert turned.differences[0].difference_text == "−88 points"
    same = compare_sides(sides["weak"], sides["weak"], criterion=C1)
    assert same.differences[0].difference_text == "0 points"
    assert [group.total for group in found.groups] == [7, 0]
    assert found.groups[0].title == "Weak fails where Strong holds"
    assert found.sentence == "Image perturbations break Weak more often (100 % and 13 %)."
    assert found.warnings == ()


def test_campaigns_with_other_thresholds_are_compared_each_at_its_own():
    dataset, sut = make_seed_dataset(3, strata=("street",)), make_sut("one")
    for threshold in (0.5, 0.75):
        made = make_modality_campaign(dataset, config={"iou_threshold": threshold})
        make_grid(made, suts=[sut], ended=lambda _: Ending(iou=0.6, clean_iou=0.9), regimes=("image",))
    strict, loose = all_sides()

    found = compare_sides(strict, loose, criterion=C1)

    assert found.thresholds == (0.75, 0.5)
    assert (found.differences[0].only_first, found.differences[0].only_second) == (3, 0)
    assert "other IoU thresholds (0.75 and 0.5)" in found.warnings[0]


def test_campaigns_with_other_seeds_are_compared_with_a_warning():
    dataset, sut = make_seed_dataset(3, strata=("street",)), make_sut("one")
    for seed in (1, 2):
        made = make_modality_campaign(dataset, plan={"seed": seed})
        make_grid(made, suts=[sut], ended=lambda _: Ending(), regimes=("image",))
    first, second = all_sides()

    found = compare_sides(first, second, criterion=C1)

    (warning,) = found.warnings
    assert warning.startswith("The campaigns have other seeds: operators drew otherwise")


def test_claims_are_judged_on_cells_with_enough_seed_images(campaign):
    families = families_of(campaign, Choice(), is_pooled=False)
    judged = {one.claim: one for one in judged_claims(families, criterion=C1)}
    ned, budget, joint_image, *_ = (judged[claim] for claim in CLAIMS)

    # NED of text is 0.3 or 0.1, of joint 0.1 or 0: larger in text on seeds 0, 1 and 8, equal on the others
    assert (ned.verdict, ned.tested, ned.agreeing, ned.n) == ("does not hold", 1, 0, 9)
    assert ned.mean_difference == pytest.approx((2 * 0.2 + 6 * 0.0 + 0.1) / 9)
    assert budget.mean_difference == pytest.approx((2 * 0.1 - 8 * 0.1) / 9)
    assert (joint_image.verdict, joint_image.opposed) == ("holds", 0)


def test_a_claim_without_six_pairs_in_any_cell_stays_open():
    made = make_modality_campaign(make_seed_dataset(5, strata=("street",)))
    make_grid(made, suts=[make_sut()], ended=worked)

    judged = judged_claims(families_of(made, Choice(), is_pooled=False), criterion=C1)

    assert {one.verdict for one in judged} == {"not enough data"}


def test_a_strict_claim_holds_when_most_cells_differ_as_claimed():
    made = make_modality_campaign(make_seed_dataset(16, strata=("street",)))
    make_grid(
        made,
        suts=[make_sut()],
        ended=lambda one: broken(ned=0.3 if one.regime == "text" else 0.05 + 0.001 * one.number),
    )

    ned = judged_claims(families_of(made, Choice(), is_pooled=False), criterion=C1)[0]

    assert (ned.verdict, ned.agreeing, ned.tested) == ("holds", 1, 1)
