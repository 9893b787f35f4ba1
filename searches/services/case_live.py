"""A follow-up of test cases in memory: its cases, its search; built by replay of its samples."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from searches.models import CaseSample, FollowUpItem, ModalityCase, SearchRun
from searches.services.case_draws import NOT_ASKED, CaseInputs, CaseQuestion, input_digest
from searches.services.kept_searches import take_kept
from searches.services.modality_asking import asked_in
from searches.services.modality_outcomes import thresholds_of
from searches.services.suts import asking_of
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.outcomes import FailureCriterion, is_eligible
from vlmlab.core.most.types import AnswerStatus
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.search import replay
from vlmlab.core.suts.asking import AskingParams
from vlmlab.core.verdicts.case_draws import CaseSearch, Part, case_search, part_of
from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS, FOLLOW_UP_KINDS, FollowUpConfig
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemSpec

KEPT_INPUTS = 64
CASE_RELATIONS = (
    "case__modality_run__run",
    "case__modality_run__campaign",
    "case__modality_run__sut",
    "case__modality_run__picture__dataset",
    "case__modality_run__clean_answer",
)
"""What making the input of an item's case again reads."""


@dataclass
class LiveCases:
    """The state of a follow-up of cases at one step, in memory; valid only while the row is at that step.

    Attributes:
        run_id: the run.
        step: as of which step.
        kind: of the follow-up.
        sut_id: the system that is asked.
        config: its settings.
        asking: how the system is asked.
        run_seed: the number all randomness of the run comes from.
        items: the rows to settle, in order.
        cases: the case of each.
        search: what asks.
        seen: inputs that were shown before, by item.
    """

    run_id: int
    step: int
    kind: str
    sut_id: int
    config: FollowUpConfig
    asking: AskingParams
    run_seed: int
    items: list[FollowUpItem]
    cases: list[ModalityCase]
    search: CaseSearch
    seen: set[tuple[int, str]] = field(default_factory=set)
    _inputs: OrderedDict[int, CaseInputs] = field(default_factory=OrderedDict)

    @property
    def asked_in(self) -> str:
        """What must not change while the run goes on: words around the targets, and how boxes are read."""
        return asked_in(self.asking)

    def question(self, query: FreshQuery) -> CaseQuestion:
        """Return what a query shows.

        Raises:
            VlmLabError: the case or its seed image is gone.
        """
        return self.inputs(query.item).question(query)

    def inputs(self, order: int) -> CaseInputs:
        """Return what an item can show; those of the last items are remembered."""
        found = self._inputs.pop(order, None)
        if found is None:
            case = self.cases[order]
            found = CaseInputs(
                case,
                self.asking,
                self.run_seed,
                self.items[order].block,
                is_fresh_call=case.modality_run.sut_id == self.sut_id,  # what its search was told is known
            )
        self._inputs[order] = found
        while len(self._inputs) > KEPT_INPUTS:
            self._inputs.popitem(last=False)
        return found

    def outcome(
        self, query: FreshQuery, *, status: AnswerStatus, iou: float, not_asked: str, picture: str
    ) -> FreshOutcome:
        """Return what the search is told of a question.

        Args:
            query: the question.
            status: how it was answered.
            iou: of the boxes.
            not_asked: a key of ``NOT_ASKED``; "" for a question that was asked.
            picture: digest of picture and prompt.
        """
        verdict = self._verdict(query, status, iou) if not not_asked else Verdict.INCOMPATIBLE
        return FreshOutcome(
            query,
            verdict,
            is_invalid=verdict is Verdict.FAIL and status is AnswerStatus.MALFORMED,
            picture=picture,
        )

    def _verdict(self, query: FreshQuery, status: AnswerStatus, iou: float) -> Verdict:
        if not status.is_answer:
            return Verdict.CALL_ERROR
        place = self.cases[query.item].modality_run
        tau = thresholds_of(place.campaign).iou
        if part_of(query.number)[0] is Part.CLEAN:
            baseline = float(place.campaign.config.get("baseline_iou", MostConfig().baseline_iou))
            is_right = is_eligible(status, iou, iou_threshold=tau, baseline_iou=baseline)
            return Verdict.PASS if is_right else Verdict.FAIL
        criterion = criterion_of(self.items[query.item])
        return Verdict.FAIL if criterion.is_met(status, iou, iou_threshold=tau) else Verdict.PASS


def criterion_of(item: FollowUpItem) -> FailureCriterion:
    """Return what counts as a failure of an item, as it was chosen with it."""
    stored = item.spec.get("settings", {}).get("criterion", FailureCriterion.C1.value)
    return FailureCriterion(stored)


def follow_up_config(run: SearchRun) -> FollowUpConfig:
    """Return the settings that a follow-up was started with.

    Raises:
        ConfigError: this version does not understand them.
    """
    kind = next((one for one in FOLLOW_UP_KINDS if one == run.campaign.kind), None)
    if kind is None:
        raise ConfigError(f"This version of the lab knows no follow-up called “{run.campaign.kind}”.")
    return checked_settings(FOLLOW_UP_CONFIGS[kind], run.campaign.config)


def live_cases(run: SearchRun) -> LiveCases:
    """Return a follow-up of cases as of ``run.step``: the one in memory, or a fresh one after replay.

    Raises:
        VlmLabError: the stored settings are not valid any more, or a case is gone.
        ReplayMismatchError: the stored samples are not what this version of the search asks.
    """
    kept = take_kept(run)
    return kept if isinstance(kept, LiveCases) else _replayed(run)


def _replayed(run: SearchRun) -> LiveCases:
    config, kind = follow_up_config(run), run.campaign.kind
    items = list(run.items.select_related(*CASE_RELATIONS).order_by("order"))
    cases = [item.case for item in items if item.case is not None]
    if len(cases) < len(items):
        raise VlmLabError(
            "A test case of this follow-up is gone.",
            hint="Its run was started again, or its campaign deleted. Start a new follow-up.",
        )
    specs = [ItemSpec(item.order, item.block, settings=item.spec.get("settings", {})) for item in items]
    search = case_search(kind, config, items=specs, run_seed=run.run_seed)
    live = LiveCases(
        run.pk, run.step, kind, run.sut_id, config, asking_of(run.sut), run.run_seed, items, cases, search
    )
    replay(search, _batches(run, live))
    return live


def _batches(
    run: SearchRun, live: LiveCases
) -> Iterator[tuple[Sequence[FreshQuery], Sequence[FreshOutcome]]]:
    columns = ("step", "item__order", "number", "status", "iou", "reading_reason", "image_sha256", "prompt")
    rows = CaseSample.objects.filter(run=run).order_by("step", "position").values_list(*columns)
    for _, batch in groupby(rows.iterator(chunk_size=2000), key=lambda row: row[0]):
        outcomes = []
        for _, order, number, status, iou, reason, image_sha256, prompt in batch:
            digest = input_digest(image_sha256, prompt)
            live.seen.add((order, digest))
            query = FreshQuery(order, (), number)
            not_asked = reason if reason in NOT_ASKED else ""
            outcomes.append(
                live.outcome(query, status=AnswerStatus(status), iou=iou, not_asked=not_asked, picture=digest)
            )
        yield [one.query for one in outcomes], outcomes
