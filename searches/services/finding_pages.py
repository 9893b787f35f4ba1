"""What the pages of concept sets and findings rest on: one set with every sample, its rule and its graph."""

from dataclasses import dataclass

from searches.enums import Verdict
from searches.models import Blob, Sample, SceneFlag, Trial
from searches.services.domain_store import find_domain
from searches.services.scene_flags import EXCLUDING, flags_of
from searches.services.set_settings import SetSettings, set_settings
from vlmlab.core.scenes.anchors import AnchorGraph, anchor_graph
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.rules import Decision
from vlmlab.core.stats import Interval, clopper_pearson


@dataclass(frozen=True)
class SampleView:
    """One sample as a page shows it.

    Attributes:
        has_picture: whether its picture is kept; else a job can draw it again from its seed.
        flags: what people say of the scene.
    """

    sample: Sample
    has_picture: bool
    flags: tuple[SceneFlag, ...] = ()

    @property
    def is_flagged(self) -> bool:
        """Whether somebody says that something is wrong with it."""
        return any(flag.kind in EXCLUDING for flag in self.flags)

    @property
    def is_failure(self) -> bool:
        """Whether the answer was wrong."""
        return self.sample.verdict == Verdict.FAIL


@dataclass(frozen=True)
class TrialView:
    """A concept set with every sample.

    Attributes:
        decision, graph: what today's domain says of the set; None where it no longer knows a concept.
        rate: failure rate; None where the set was curtailed or is unfinished, because k/n is biased then.
        interval: exact 95 % interval of the rate; None with it.
    """

    trial: Trial
    config: SetSettings
    domain: Domain
    decision: Decision | None
    graph: AnchorGraph | None
    samples: list[SampleView]
    rate: float | None
    interval: Interval | None


def trial_detail(trial: Trial) -> TrialView:
    """Return a concept set with its samples, its rule and its graph.

    Raises:
        VlmLabError: the run's settings or domain are not known to this version.
    """
    config, domain = set_settings(trial.run), find_domain(trial.run.campaign.domain_ref)
    key = tuple(trial.concepts)
    samples = list(trial.samples.order_by("number"))
    kept = frozenset(
        Blob.objects.filter(pk__in={sample.image_sha256 for sample in samples}).values_list("pk", flat=True)
    )
    flags = flags_of([sample.pk for sample in samples])
    answers = trial.answers
    is_known = all(one in domain.index for one in key) and bool(domain.matching_rules(key))
    # A run that stops sets early leaves whole only those that were close: their k/n is no rate either.
    is_whole = not (trial.is_curtailed or config.is_curtailed)
    has_rate = is_whole and trial.status.startswith("decided") and answers > 0
    return TrialView(
        trial=trial,
        config=config,
        domain=domain,
        decision=domain.decide(key) if is_known else None,
        graph=anchor_graph(domain, key) if is_known else None,
        samples=[
            SampleView(sample, sample.image_sha256 in kept, tuple(flags.get(sample.pk, ())))
            for sample in samples
        ],
        rate=trial.fails / answers if has_rate else None,
        interval=clopper_pearson(trial.fails, answers, 0.95) if has_rate else None,
    )
