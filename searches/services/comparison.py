"""Two runs side by side: what is not alike, who found what, by equal sets and by sets inside sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from searches.models import Finding, SearchRun
from searches.services.concept_runs import concept_runs
from searches.services.results import PFM_NOTE, ExpectedRow, RunOverview, expected_table, run_overview
from searches.services.run_pages import RunCurves, cached_metrics, run_curves
from searches.services.source_obstacles import backend_title
from vlmlab.core.revelio.config import CHOICE_LABELS, RevelioConfig
from vlmlab.core.revelio.metrics import RevelioMetrics, Share
from vlmlab.web.numbers import write_many

SHOWN_SETS = 30
MAX_CHOICES = 200


@dataclass(frozen=True)
class Difference:
    """One setting that differs."""

    title: str
    first: object
    second: object


@dataclass(frozen=True)
class Measure:
    """One metric of both runs: a share each with a note below it, or a plain number each."""

    title: str
    help: str
    first: Share | None
    second: Share | None
    first_text: str = ""
    second_text: str = ""
    first_note: str = ""
    second_note: str = ""


@dataclass(frozen=True)
class ExpectedPair:
    """Failed answers by one expected answer, in both runs."""

    label: str
    first: ExpectedRow | None
    second: ExpectedRow | None


@dataclass(frozen=True)
class SetGroup:
    """Failure modes in one part of the comparison, at most ``SHOWN_SETS`` of them."""

    title: str
    note: str
    sets: list[tuple[str, ...]]
    total: int


@dataclass(frozen=True)
class ComparePage:
    """Everything the page of a comparison shows."""

    first: RunOverview
    second: RunOverview
    differences: list[Difference]
    warnings: list[str]
    measures: list[Measure]
    curves: tuple[RunCurves, RunCurves]
    expected: list[ExpectedPair]
    groups: list[SetGroup]


def runs_to_compare() -> QuerySet[SearchRun]:
    """Return the newest runs with answers, for the two lists to choose from."""
    rows = concept_runs().select_related("campaign", "sut").filter(n_observations__gt=0)
    return rows.order_by("-id")[:MAX_CHOICES]


def find_pair(first: int, second: int) -> tuple[SearchRun, SearchRun] | None:
    """Return two runs by number, or None when one is missing or they are the same."""
    found = concept_runs().select_related("campaign", "sut").in_bulk({first, second})
    return (found[first], found[second]) if len(found) == 2 else None


def compare_page(first: SearchRun, second: SearchRun) -> ComparePage:
    """Set two runs side by side.

    Raises:
        VlmLabError: settings or domain of one are not known to this version.
    """
    heads = run_overview(first), run_overview(second)
    return ComparePage(
        first=heads[0],
        second=heads[1],
        differences=differences(*heads),
        warnings=unlike(*heads),
        measures=measures(cached_metrics(first), cached_metrics(second)),
        curves=(run_curves(first), run_curves(second)),
        expected=_expected(first, second),
        groups=set_groups(_modes(first), _modes(second)),
    )


def unlike(first: RunOverview, second: RunOverview) -> list[str]:
    """Return a sentence for each thing that makes the numbers of two runs hard to compare."""
    warnings = []
    if first.run.campaign.domain != second.run.campaign.domain:
        warnings.append("The runs search different domains; their sets have nothing in common.")
    elif first.run.campaign.domain_version != second.run.campaign.domain_version:
        warnings.append("The domain changed between the runs.")
    if first.config.algorithm != second.config.algorithm:
        warnings.append(
            f"The algorithms differ ({first.config.algorithm} and {second.config.algorithm}): compare "
            f"failure modes for the same number of inferences, not PFM. {PFM_NOTE}"
        )
    for name in ("failure_rate_threshold", "samples_per_set", "strict", "minimal", "ask_reason"):
        if name == "minimal" and {first.config.algorithm, second.config.algorithm} != {"sits"}:
            continue
        values = getattr(first.config, name), getattr(second.config, name)
        if values[0] != values[1]:
            title = RevelioConfig.model_fields[name].title or name
            warnings.append(f"{title} differs: {_plain(values[0], name)} and {_plain(values[1], name)}.")
    sizes = [f"{side.config.image_width} × {side.config.image_height}" for side in (first, second)]
    if sizes[0] != sizes[1]:
        warnings.append(f"The scenes differ in size: {sizes[0]} and {sizes[1]} pixels.")
    backends = first.config.backend, second.config.backend
    refs = [side.run.campaign.domain_ref for side in (first, second)]
    made = [side.run.checkpoint.get("pictures", "") for side in (first, second)]
    if backends[0] != backends[1]:
        titles = " and ".join(backend_title(one) for one in backends)
        warnings.append(f"The pictures come from different sources: {titles}.")
    elif sizes[0] == sizes[1] and all(made) and made[0] != made[1] and refs[0] == refs[1]:
        warnings.append("Their pictures are made in different ways: the source or the renderer has changed.")
    if first.config.is_curtailed != second.config.is_curtailed:
        warnings.append("Only one of the runs stops sets early, so their failure rates cannot be compared.")
    if first.run.n_observations != second.run.n_observations:
        spent = f"{first.run.n_observations:,} and {second.run.n_observations:,}"
        warnings.append(f"They took different numbers of inferences: {spent}.")
    return warnings


def differences(first: RunOverview, second: RunOverview) -> list[Difference]:
    """Return what differs: system, seed, domain version and every setting."""
    rows = [
        Difference("System", first.run.sut.name, second.run.sut.name),
        Difference("Run seed", str(first.run.run_seed), str(second.run.run_seed)),
        Difference("Domain", first.domain.title, second.domain.title),
        Difference("Domain version", first.run.campaign.domain_version, second.run.campaign.domain_version),
    ]
    for name, info in RevelioConfig.model_fields.items():
        values = getattr(first.config, name), getattr(second.config, name)
        rows.append(Difference(info.title or name, *(_plain(value, name) for value in values)))
    return [row for row in rows if row.first != row.second]


def measures(first: RevelioMetrics, second: RevelioMetrics) -> list[Measure]:
    """Return the metrics of both runs with their counts."""
    return [
        Measure(
            "Failure modes, PFM",
            "failure modes among decided sets; parked sets are left out",
            first.pfm,
            second.pfm,
            first_note=f"{first.parked:,} parked",
            second_note=f"{second.parked:,} parked",
        ),
        Measure(
            "PFM without invalid answers",
            "sets that fail by readable wrong answers alone",
            first.pfm_valid,
            second.pfm_valid,
        ),
        Measure("Mean failure rate, MFR", "wrong answers over full sets", first.mfr, second.mfr),
        Measure("Invalid answers", "answers that named no option", first.invalid, second.invalid),
        Measure(
            "Diversity, Div",
            "mean Jaccard distance over pairs of modes",
            None,
            None,
            _diversity(first),
            _diversity(second),
        ),
        Measure(
            "Distinct minimal modes",
            "modes that contain no other",
            None,
            None,
            f"{first.minimal_modes:,}",
            f"{second.minimal_modes:,}",
        ),
    ]


def set_groups(first: Sequence[frozenset[str]], second: Sequence[frozenset[str]]) -> list[SetGroup]:
    """Return the modes in both runs, those related by inclusion, and those that stand alone."""
    both = set(first) & set(second)
    only_first = [one for one in first if one not in both]
    only_second = [one for one in second if one not in both]
    near_first = [one for one in only_first if _is_near(one, second)]
    near_second = [one for one in only_second if _is_near(one, first)]
    return [
        _group("In both", "the same concept set is a failure mode in both runs", both),
        _group("First, close to the second", "contains a mode of the second or lies inside one", near_first),
        _group("Second, close to the first", "contains a mode of the first or lies inside one", near_second),
        _group("Only in the first", "no mode of the second run contains it or lies inside it",
               set(only_first) - set(near_first)),
        _group("Only in the second", "no mode of the first run contains it or lies inside it",
               set(only_second) - set(near_second)),
    ]  # fmt: skip


def _is_near(one: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    return any(one < other or other < one for other in others)


def _group(title: str, note: str, sets: Any) -> SetGroup:
    ordered = sorted((tuple(sorted(one)) for one in sets), key=lambda key: (len(key), key))
    return SetGroup(title, note, ordered[:SHOWN_SETS], len(ordered))


def _modes(run: SearchRun) -> list[frozenset[str]]:
    rows = Finding.objects.filter(run=run).order_by("id").values_list("concepts", flat=True)
    return [frozenset(concepts) for concepts in rows]


def _expected(first: SearchRun, second: SearchRun) -> list[ExpectedPair]:
    sides = [{row.action: row for row in expected_table(run)} for run in (first, second)]
    actions = dict.fromkeys([*sides[0], *sides[1]])
    return [
        ExpectedPair((sides[0].get(one) or sides[1][one]).label, sides[0].get(one), sides[1].get(one))
        for one in actions
    ]


def _diversity(metrics: RevelioMetrics) -> str:
    if metrics.diversity is None:
        return "–"
    return f"{metrics.diversity:.2f} over {write_many(metrics.mode_pairs, 'pair')}"


def _plain(value: object, name: str) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, str):
        return CHOICE_LABELS.get(name, {}).get(value, value)
    return "not set" if value is None else value
