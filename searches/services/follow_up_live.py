"""A follow-up in memory beside what its rows say; built by replay, kept between the slices of a process."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from searches.enums import CONCEPT_METHOD, KEY_SEPARATOR, FollowUpName
from searches.models import Campaign, FollowUpItem, Sample, SearchRun
from searches.services.domain_store import find_domain
from searches.services.follow_up_families import campaigns_below
from searches.services.kept_searches import take_kept
from searches.services.live import Tally
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.methods import METHODS, MethodEntry
from vlmlab.core.revelio.evaluate import PreparedSample, SampleRecord, prepare_scene
from vlmlab.core.revelio.types import Query, Verdict
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.search import replay
from vlmlab.core.suts.base import SutReply
from vlmlab.core.verdicts.config import FollowUpConfig
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import (
    FollowUpSearch,
    FreshOutcome,
    FreshQuery,
    ItemSpec,
    fresh_options_seed,
    fresh_scene_seed,
)

STATEMENTS = "statements"
SHOWN_BEFORE = "The source gave a picture that this set was judged on already: it is no fresh evidence."
TrialKey = tuple[Key, str, str]
"""What tells the sets of a follow-up apart: concepts, block, variant."""


@dataclass
class LiveFollowUp:
    """The state of a run of a follow-up at one step, in memory; valid only while the row is at that step.

    Attributes:
        method: how replies are read: as in the search that is followed.
        items: their rows, in order, as they were last written.
        tallies: what the rows say of each set.
        shown_in: the campaigns whose pictures are no fresh evidence.
    """

    run_id: int
    step: int
    config: FollowUpConfig
    domain: Domain
    method: MethodEntry
    search: FollowUpSearch
    items: list[FollowUpItem]
    tallies: dict[TrialKey, Tally] = field(default_factory=dict)
    shown_in: Sequence[int] = ()
    _shown_before: dict[Key, frozenset[str]] = field(default_factory=dict)

    def prepare(self, query: FreshQuery, *, source: SceneSource, run_seed: int) -> PreparedSample:
        """Make the scene and the question of a query.

        Raises:
            SourceAwayError: no scene at all can be made now.
        """
        block = self.items[query.item].block
        sample = prepare_scene(
            Query(query.key, query.number),
            domain=self.domain,
            source=source,
            scene_seed=fresh_scene_seed(run_seed, block, query.number),
            options_seed=fresh_options_seed(run_seed, block, query.number),
            ask_reason=self.config.ask_reason,
            with_statements=query.variant == STATEMENTS,
        )
        if sample.scene is not None and sample.scene.image_sha256 in self._shown(query.key):
            return replace(sample, scene=None, generation_error=SHOWN_BEFORE)
        return sample

    def read(self, sample: PreparedSample, reply: SutReply) -> SampleRecord:
        """Judge the reply to a prepared query."""
        return self.method.read(sample, reply, domain=self.domain)

    def scene_of(self, query: FreshQuery, *, run_seed: int) -> tuple[Key, int]:
        """Return what the scene of a query shows, and its seed."""
        return query.key, fresh_scene_seed(run_seed, self.items[query.item].block, query.number)

    def ahead(self, count: int) -> Sequence[FreshQuery]:
        """Return what a copy asks next that is told what each set said more often so far.

        Guessing wrong costs nothing but the work done ahead; a search that cannot be copied is not guessed.
        """
        try:
            guessed = copy.deepcopy(self.search)
        except TypeError:  # it is in the midst of something
            return ()
        batch, found = guessed.ask(), list[FreshQuery]()
        while batch and len(found) < count:
            guessed.tell([FreshOutcome(query, self._usual(query)) for query in batch])
            batch = guessed.ask()
            found += batch
        return found[:count]

    def _shown(self, key: Key) -> frozenset[str]:
        """Return the pictures on which a set was judged; only sources of photographs give one again."""
        if not self.shown_in or self.config.backend == EMBEDDED:
            return frozenset()
        if key not in self._shown_before:
            rows = Sample.objects.filter(
                run__campaign__in=self.shown_in, trial__key=KEY_SEPARATOR.join(key)
            ).exclude(image_sha256="")
            self._shown_before[key] = frozenset(rows.values_list("image_sha256", flat=True))
        return self._shown_before[key]

    def _usual(self, query: FreshQuery) -> Verdict:
        tally = self.tallies.get(self.trial_key(query))
        return Verdict.FAIL if tally is None or tally.fails >= tally.passes else Verdict.PASS

    def trial_key(self, query: FreshQuery) -> TrialKey:
        """Return which set a query is a sample of."""
        return query.key, self.items[query.item].block, query.variant


def follow_up_config(run: SearchRun) -> FollowUpConfig:
    """Return the settings that a run of a follow-up was started with.

    Raises:
        ConfigError: this version does not understand them.
    """
    try:
        return FOLLOW_UPS[run.campaign.kind].config_type.model_validate(run.campaign.config)
    except (KeyError, ValueError) as error:
        raise ConfigError(
            "This version of the lab does not understand the stored settings of this follow-up.",
            hint="Its results stay readable; start a new one.",
        ) from error


def spec_of(item: FollowUpItem) -> ItemSpec:
    """Return an item as its search knows it."""
    return ItemSpec(
        order=item.order,
        block=item.block,
        key=tuple(item.concepts),
        arms=tuple(tuple(arm) for arm in item.spec.get("arms", [])),
        settings=item.spec.get("settings", {}),
    )


def live_follow_up(run: SearchRun) -> LiveFollowUp:
    """Return the search of a run as of ``run.step``: the one in memory, or a fresh one after replay.

    Raises:
        ConfigError: the stored settings are not valid any more, or the domain has changed.
        ReplayMismatchError: the stored samples are not what this version of the follow-up asks.
    """
    kept = take_kept(run)
    return kept if isinstance(kept, LiveFollowUp) else _replayed(run)


def outcome_of(query: FreshQuery, row: Sample) -> FreshOutcome:
    """Return what the search was told of a sample, from its row."""
    return FreshOutcome(
        query=query,
        verdict=Verdict(row.told_verdict),
        is_invalid=row.answer_status == "invalid",
        statements=tuple(one["said"] for one in row.statements),
        picture=row.image_sha256,
        direction=row.direction,  # type: ignore[arg-type]  # only directions of the core are stored
    )


def _replayed(run: SearchRun) -> LiveFollowUp:
    config = follow_up_config(run)
    domain = find_domain(run.campaign.domain_ref)
    if domain.version != run.campaign.domain_version:
        raise VlmLabError(
            f"The domain {domain.title} has changed since this follow-up started.",
            hint="Its results stay readable; search the domain as it is now.",
        )
    items = list(run.items.order_by("order"))
    search = FOLLOW_UPS[run.campaign.kind].build_search(
        config, items=[spec_of(item) for item in items], run_seed=run.run_seed
    )
    live = LiveFollowUp(run.pk, run.step, config, domain, METHODS[CONCEPT_METHOD], search, items)
    live.shown_in = _judged_in(run.campaign)
    replay(search, _stored_batches(run, live))
    _read_tallies(run, live)
    return live


def _judged_in(campaign: Campaign) -> list[int]:
    """Return the campaigns on whose pictures suspects were chosen, so that they say nothing new.

    A confirmation may come after others that left a set undecided, and after the ablation that chose it.
    """
    if campaign.follows is None:
        return []
    if campaign.kind != FollowUpName.CONFIRM:
        return [campaign.follows.pk]
    return [pk for pk in campaigns_below(campaign.follows) if pk < campaign.pk]


def _stored_batches(
    run: SearchRun, live: LiveFollowUp
) -> Iterator[tuple[Sequence[FreshQuery], Sequence[FreshOutcome]]]:
    orders = {item.block: item.order for item in live.items}
    sets: dict[int, Any] = {
        trial.pk: (orders[trial.block], tuple(trial.concepts), trial.variant) for trial in run.trials.all()
    }
    columns = ("step", "trial_id", "number", "told_verdict", "answer_status", "statements", "image_sha256",
               "direction")  # fmt: skip
    rows = run.samples.order_by("step", "position").only(*columns)
    for _, batch in groupby(rows.iterator(chunk_size=2000), key=lambda row: row.step):
        outcomes = []
        for row in batch:
            item, key, variant = sets[row.trial_id]
            outcomes.append(outcome_of(FreshQuery(item, key, row.number, variant), row))
        yield [outcome.query for outcome in outcomes], outcomes


def _read_tallies(run: SearchRun, live: LiveFollowUp) -> None:
    for row in run.trials.order_by("order").iterator(chunk_size=2000):
        live.tallies[tuple(row.concepts), row.block, row.variant] = Tally(
            order=row.order,
            stage=row.stage,
            expected_action=row.expected_action,
            rule_id=row.rule_id,
            fails=row.fails,
            passes=row.passes,
            invalid=row.invalid,
            call_errors=row.call_errors,
        )
