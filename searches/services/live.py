"""A search in memory beside what its rows say; built by replay, kept between the slices of a process."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from searches.enums import TrialStatus
from searches.models import SearchRun, Trial
from searches.services.domain_store import find_domain
from searches.services.kept_searches import forget_all, keep, take_kept
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.methods import METHODS, MethodEntry
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.evaluate import PreparedSample, SampleRecord, scene_seed_of
from vlmlab.core.revelio.forecast import forecast
from vlmlab.core.revelio.trials import ConceptSetSearch
from vlmlab.core.revelio.types import Key, Outcome, Query, Verdict
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.search import replay
from vlmlab.core.suts.base import SutReply

__all__ = ["LiveSearch", "Tally", "config_of", "forget_all", "keep", "live_search"]


@dataclass
class Tally:
    """What the rows say of one concept set; differs from the search once failed calls were asked again."""

    order: int
    stage: str = ""
    expected_action: str = ""
    rule_id: str = ""
    fails: int = 0
    passes: int = 0
    invalid: int = 0
    call_errors: int = 0
    status: TrialStatus = TrialStatus.OPEN
    is_curtailed: bool = False

    def count(self, verdict: Verdict, *, is_invalid: bool) -> None:
        """Add one sample."""
        self.fails += verdict is Verdict.FAIL
        self.passes += verdict is Verdict.PASS
        self.call_errors += verdict is Verdict.CALL_ERROR
        self.invalid += is_invalid


@dataclass
class LiveSearch:
    """The state of a run at one step, in memory; valid only while the row is at the same step."""

    run_id: int
    step: int
    config: RevelioConfig
    domain: Domain
    method: MethodEntry
    search: ConceptSetSearch
    tallies: dict[Key, Tally] = field(default_factory=dict)

    def prepare(self, query: Query, *, source: SceneSource, run_seed: int) -> PreparedSample:
        """Make the scene and the question of a query.

        Raises:
            SourceAwayError: no scene at all can be made now.
        """
        return self.method.prepare(
            query, domain=self.domain, source=source, config=self.config, run_seed=run_seed
        )

    def read(self, sample: PreparedSample, reply: SutReply) -> SampleRecord:
        """Judge the reply to a prepared query."""
        return self.method.read(sample, reply, domain=self.domain)

    def scene_of(self, query: Query, *, run_seed: int) -> tuple[Key, int]:
        """Return what the scene of a query shows, and its seed."""
        return query.key, scene_seed_of(query, run_seed=run_seed)

    def ahead(self, count: int) -> Sequence[Query]:
        """Return queries that the search may ask after its pending batch, the most probable first."""
        return forecast(self.search, count)

    def count_statuses(self) -> Counter[TrialStatus]:
        """Return how many sets have each status."""
        return Counter(tally.status for tally in self.tallies.values())


def live_search(run: SearchRun) -> LiveSearch:
    """Return the search of a run as of ``run.step``: the one in memory, or a fresh one after replay.

    Raises:
        ConfigError: the stored settings are not valid any more, or the domain has changed.
        ReplayMismatchError: the stored trials are not what this version of the search asks.
    """
    kept = take_kept(run)
    return kept if isinstance(kept, LiveSearch) else _replayed(run)


def config_of(run: SearchRun) -> RevelioConfig:
    """Return the settings that a run was started with.

    Raises:
        ConfigError: this version does not understand them.
    """
    try:
        return METHODS[run.campaign.method].config_type.model_validate(run.campaign.config)
    except (KeyError, ValueError) as error:
        raise ConfigError(
            "This version of the lab does not understand the stored settings of this run.",
            hint="Copy its settings and start a new run with them.",
        ) from error


def _replayed(run: SearchRun) -> LiveSearch:
    config = config_of(run)
    domain = find_domain(run.campaign.domain_ref)
    if domain.version != run.campaign.domain_version:
        raise VlmLabError(
            f"The domain {domain.title} has changed since this run started.",
            hint="Its results stay readable; copy its settings to search the domain as it is now.",
        )
    method = METHODS[run.campaign.method]
    search = method.build_search(config, domain=domain, run_seed=run.run_seed)
    live = LiveSearch(run.pk, run.step, config, domain, method, search)
    replay(search, _stored_batches(run))
    _read_tallies(run, live)
    return live


def _stored_batches(run: SearchRun) -> Iterator[tuple[Sequence[Query], Sequence[Outcome]]]:
    keys = {pk: tuple(concepts) for pk, concepts in run.trials.values_list("pk", "concepts")}
    rows = run.samples.order_by("step", "position").values_list("step", "trial_id", "number", "told_verdict")
    for _, batch in groupby(rows.iterator(chunk_size=2000), key=lambda row: row[0]):
        outcomes = [
            Outcome(Query(keys[trial_id], number), Verdict(told)) for _, trial_id, number, told in batch
        ]
        yield [outcome.query for outcome in outcomes], outcomes


def _read_tallies(run: SearchRun, live: LiveSearch) -> None:
    for row in Trial.objects.filter(run=run).order_by("order").iterator(chunk_size=2000):
        live.tallies[tuple(row.concepts)] = Tally(
            order=row.order,
            stage=row.stage,
            expected_action=row.expected_action,
            rule_id=row.rule_id,
            fails=row.fails,
            passes=row.passes,
            invalid=row.invalid,
            call_errors=row.call_errors,
            status=TrialStatus(row.status),
            is_curtailed=row.is_curtailed,
        )
