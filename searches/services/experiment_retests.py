"""The published re-test for the runs of an experiment: ten sets a run, 20 fresh scenes each."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from searches.enums import FINAL_STATES, FOLLOW_UP_METHOD, KEY_SEPARATOR, FollowUpName, RunState, TrialStatus
from searches.models import Campaign, Experiment, FollowUpItem, SearchRun, SutRecord, Trial
from searches.services.experiment_pages import ExperimentPage
from searches.services.experiments import experiment_runs
from searches.services.finding_lists import stops_early
from searches.services.follow_up_wishes import follow_up_config
from searches.services.follow_ups import FollowUpWish, ItemWish
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.published import PAPER_DOMAINS, Retest, published
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.seeding import rng_for
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.paper_protocol import RetestSummary, retest_summary, top_by_rate
from vlmlab.web.numbers import write_decimals, write_many

PAPER = "paper"
ALGORITHM_COLUMNS = {"random": "random", "beam": "bs", "gpts": "gpts"}


@dataclass(frozen=True)
class RetestCell:
    """A cell: mean and spread, how many sets reach 80 %, how many answers it rests on."""

    text: str
    note: str = ""


@dataclass(frozen=True)
class RetestRow:
    """One system: of this lab, or published."""

    title: str
    cells: tuple[RetestCell, ...]
    is_ours: bool


@dataclass(frozen=True)
class RetestPage:
    """What the page of an experiment says of re-tests.

    Attributes:
        heads: arms.
        n_ready: campaigns that have ended and were not re-tested yet.
        campaigns: re-tests, newest first.
        n_live: re-tests at work.
    """

    heads: tuple[str, ...]
    rows: tuple[RetestRow, ...]
    n_ready: int
    campaigns: tuple[Campaign, ...]
    n_live: int

    @property
    def is_shown(self) -> bool:
        """Whether there is anything to show or to do."""
        return bool(self.n_ready or self.campaigns)


def retest_wishes(experiment: Experiment) -> list[FollowUpWish]:
    """Return a wish for each campaign whose runs have all ended and that was not re-tested yet.

    The sets with the highest failure rates of the search are taken, failure modes or not, as published. A
    search that stops sets early has no rates: ten of its failure modes are drawn.

    Raises:
        VlmLabError: no campaign is ready, or none has a set to ask again.
    """
    ready = _ready(experiment)
    wishes = [wish for campaign in ready if (wish := _wish(campaign)) is not None]
    if not wishes:
        raise VlmLabError(
            "No run is ready to be tested again.",
            hint="Wait until runs have ended; those that were tested already are left out.",
        )
    return wishes


def retest_page(experiment: Experiment, page: ExperimentPage) -> RetestPage:
    """Return the re-tests of an experiment beside the published ones (at most four queries)."""
    tests = list(_retests(experiment).order_by("-pk"))
    heads = tuple(arm.name for arm in page.spec.arms)
    counts = _counts(tests) if tests else {}
    rows = [
        RetestRow(
            sut.name,
            tuple(_cell(retest_summary(counts.get((sut.pk, name), []))) for name in heads),
            is_ours=True,
        )
        for sut in page.suts
        if tests
    ]
    if rows or experiment.preset == "revelio-table-1":
        rows += _published_rows(page)
    at_work = SearchRun.objects.filter(campaign__in=tests).exclude(state__in=FINAL_STATES)
    return RetestPage(
        heads=heads,
        rows=tuple(rows),
        n_ready=_n_ready(page, tests),
        campaigns=tuple(tests),
        n_live=at_work.values("campaign").distinct().count() if tests else 0,
    )


def _retests(experiment: Experiment) -> QuerySet[Campaign]:
    return Campaign.objects.filter(
        follows__experiment=experiment,
        method=FOLLOW_UP_METHOD,
        kind=FollowUpName.CONFIRM,
        config__protocol=PAPER,
    )


def _n_ready(page: ExperimentPage, tests: Sequence[Campaign]) -> int:
    """Return how many campaigns could be re-tested, from what the page has read already."""
    done = {one.follows_id for one in tests}
    ended: dict[int, bool] = {}
    for row in page.all_runs:
        ended[row.campaign_id] = ended.get(row.campaign_id, True) and row.state == RunState.SUCCEEDED
    return sum(is_ended and pk not in done for pk, is_ended in ended.items())


def _ready(experiment: Experiment) -> list[Campaign]:
    rows = Campaign.objects.filter(experiment=experiment).order_by("pk")
    left = experiment_runs(experiment).exclude(state=RunState.SUCCEEDED).values("campaign_id")
    done = _retests(experiment).values("follows_id")
    return list(rows.exclude(pk__in=left).exclude(pk__in=done))


def _wish(campaign: Campaign) -> FollowUpWish | None:
    config = follow_up_config("confirm", campaign, {"protocol": PAPER})
    assert isinstance(config, ConfirmConfig)
    items: list[tuple[SutRecord, list[ItemWish]]] = []
    for run in campaign.runs.select_related("sut").order_by("pk"):
        chosen = _top_sets(run, top=config.paper_top)
        if chosen:
            items.append((run.sut, [_item(trial) for trial in chosen]))
    if not items:
        return None
    return FollowUpWish(
        kind="confirm",
        config=config,
        domain_ref=campaign.domain_ref,
        items=items,
        name=f"Re-test of {campaign.name}"[:120],
        follows=campaign,
    )


def _top_sets(run: SearchRun, *, top: int) -> list[Trial]:
    decided = run.trials.filter(status__in=(TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS))
    rows = list(decided.select_related("finding").order_by("order"))
    whole = [trial for trial in rows if not trial.is_curtailed and trial.answers]
    if whole and not stops_early(run.campaign.config):
        places = top_by_rate([one.fails / one.answers for one in whole], top, run_seed=run.run_seed)
        return [whole[place] for place in places]
    modes = [trial for trial in rows if trial.status == TrialStatus.DECIDED_FAIL]
    order = rng_for(run.run_seed, "re-test of sets without rates").permutation(len(modes))
    return [modes[int(place)] for place in order[:top]]


def _item(trial: Trial) -> ItemWish:
    key: Key = tuple(trial.key.split(KEY_SEPARATOR))
    return ItemWish(key=key, finding=getattr(trial, "finding", None), expected_action=trial.expected_action)


def _counts(tests: Sequence[Campaign]) -> dict[tuple[int, str], list[tuple[int, int]]]:
    found: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    rows = FollowUpItem.objects.filter(campaign__in=tests).order_by("pk")
    named = rows.values_list("run__sut_id", "campaign__follows__arm__name", "fails", "n")
    for sut_id, name, fails, n in named:
        found[sut_id, name].append((fails, n))
    return found


def _cell(summary: RetestSummary) -> RetestCell:
    if summary.mean is None:
        return RetestCell("–")
    spread = "" if summary.sd is None else f" ± {write_decimals(100.0 * summary.sd, 1)}"
    answers = sum(one.samples for one in summary.sets)
    return RetestCell(
        f"{write_decimals(100.0 * summary.mean, 1)}{spread} %",
        f"{summary.n_high} of {len(summary.sets)} reach 80 %; {write_many(answers, 'answer')}",
    )


def _published_rows(page: ExperimentPage) -> list[RetestRow]:
    domain = page.spec.domain.partition("@")[0]
    if domain not in PAPER_DOMAINS or page.spec.axis:
        return []
    rows = [row for row in published().table_1 if row.domain == domain]
    columns = [ALGORITHM_COLUMNS.get(arm.algorithm, "") for arm in page.spec.arms]
    return [
        RetestRow(
            f"{row.model}, published",
            tuple(_published_cell(getattr(row, name)) if name else RetestCell("–") for name in columns),
            is_ours=False,
        )
        for row in rows
        if any(columns)
    ]


def _published_cell(one: Retest) -> RetestCell:
    return RetestCell(
        f"{write_decimals(one.mean, 1)} ± {write_decimals(one.sd, 1)} %",
        f"{one.reached} of {one.sets} reach 80 %",
    )
