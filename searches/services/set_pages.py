"""The page of one concept set: scenes with answers, the rule behind the truth, relatives in the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from searches.enums import Verdict
from searches.models import Finding, Job, Sample, Trial
from searches.services.finding_lists import failing_sets
from searches.services.finding_pages import SampleView, TrialView, trial_detail
from searches.services.rule_evidence import LostRule, fit_words, lost_rules
from searches.services.sample_scenes import NOT_STORED, RemadeScene, remade_description
from searches.services.scene_facts import SceneFacts, indented, made_by, scene_lines
from vlmlab.core.scenes.rules import Rule
from vlmlab.web.boxed_pictures import BoxedPicture, boxes_of
from vlmlab.web.evidence import set_words

RELATIVES = 12
GALLERY = 12
SHOWN = {
    "failed": "Failed",
    "passed": "Passed",
    "invalid": "Invalid",
    "errors": "Call errors",
    "flagged": "Flagged",
}


@dataclass(frozen=True)
class SampleTab:
    """One choice above the scenes with how many it holds."""

    name: str
    label: str
    count: int


@dataclass(frozen=True)
class RuleEvidence:
    """Why an answer is expected.

    Attributes:
        rule: the rule that fired; None where today's domain no longer has it.
        place: of the rule in its table, from 1.
        fit: how much of the set it speaks of, "" where the first rule decides.
        lost: rules that matched too, and why they did not decide.
        has_changed: whether today's rules would decide otherwise than those of the run.
    """

    rule: Rule | None
    place: int
    fit: str
    lost: tuple[LostRule, ...]
    has_changed: bool


@dataclass(frozen=True)
class ChosenSample:
    """One sample shown large.

    Attributes:
        picture: with numbered boxes; None where the picture is not kept.
        place: from 1 among the shown samples; ``previous`` and ``following`` are sample numbers.
    """

    view: SampleView
    picture: BoxedPicture | None
    options: Mapping[str, str]
    place: int
    total: int
    previous: int | None
    following: int | None
    facts: SceneFacts

    @property
    def sample(self) -> Sample:
        """The sample."""
        return self.view.sample


@dataclass(frozen=True)
class Relatives:
    """Other sets of the same run: failing sets inside this one, and sets that contain it."""

    smaller: list[Trial]
    larger: list[Trial]
    n_smaller: int
    n_larger: int


@dataclass(frozen=True)
class SetPage:
    """Everything the page of a concept set shows."""

    view: TrialView
    tabs: list[SampleTab]
    show: str
    shown: list[SampleView]
    chosen: ChosenSample | None
    evidence: RuleEvidence
    relatives: Relatives
    words: str
    sentence: str
    shows_all: bool = False

    @property
    def gallery(self) -> list[SampleView]:
        """The scenes that the gallery shows: the first ones, unless all were asked for."""
        is_short = self.shows_all or len(self.shown) <= GALLERY + 4
        return self.shown if is_short else self.shown[:GALLERY]

    @property
    def trial(self) -> Trial:
        """The concept set."""
        return self.view.trial


def find_trial(run_pk: int, trial_pk: int) -> Trial | None:
    """Return a concept set of a run with what its page needs."""
    rows = Trial.objects.select_related("run__campaign", "run__sut", "finding")
    return rows.filter(run_id=run_pk, pk=trial_pk).first()


def trial_to_ask_again(pk: int) -> Trial | None:
    """Return a concept set with its run's settings."""
    return Trial.objects.select_related("run__campaign").filter(pk=pk).first()


def find_finding(pk: int) -> Finding | None:
    """Return a finding with what its page needs."""
    return (
        Finding.objects.select_related(
            "trial__run__campaign", "trial__run__sut", "sut", "run__campaign", "covered_by"
        )
        .filter(pk=pk)
        .first()
    )


def find_sample(trial: Trial, number: int) -> Sample | None:
    """Return one sample of a concept set."""
    return trial.samples.select_related("run__campaign", "trial").filter(number=number).first()


def set_page(trial: Trial, *, show: str, number: int | None, shows_all: bool = False) -> SetPage:
    """Return the page of a concept set.

    Args:
        trial: with run, campaign and system fetched.
        show: a key of ``SHOWN``; anything else shows every sample.
        number: the sample shown large; the first failed one when it is not among those shown.
        shows_all: whether the gallery shows every scene, however many they are.

    Raises:
        VlmLabError: the run's settings or domain are not known to this version.
    """
    view = trial_detail(trial)
    groups = {name: [one for one in view.samples if _belongs(one, name)] for name in SHOWN}
    shown = groups.get(show, view.samples)
    tabs = [SampleTab("", "All", len(view.samples))]
    tabs += [SampleTab(name, SHOWN[name], len(rows)) for name, rows in groups.items() if rows or name == show]
    return SetPage(
        view=view,
        tabs=tabs,
        show=show if show in SHOWN else "",
        shown=shown,
        chosen=_choose(shown, number, view),
        evidence=_evidence(view),
        relatives=_relatives(trial),
        words=set_words(trial.concepts, view.domain.ref),
        sentence=_sentence(view),
        shows_all=shows_all,
    )


def is_same_scene(job: Job, sample: Sample) -> bool:
    """Whether a drawing job draws the scene of a sample."""
    return bool(job.params.get("seed") == sample.scene_seed)


def _belongs(view: SampleView, name: str) -> bool:
    sample = view.sample
    is_invalid = sample.answer_status == "invalid"
    return {
        "failed": sample.verdict == Verdict.FAIL and not is_invalid,
        "passed": sample.verdict == Verdict.PASS,
        "invalid": is_invalid,
        "errors": sample.verdict in (Verdict.CALL_ERROR, Verdict.INCOMPATIBLE),
        "flagged": view.is_flagged,
    }[name]


def _choose(shown: Sequence[SampleView], number: int | None, view: TrialView) -> ChosenSample | None:
    if not shown:
        return None
    numbers = [one.sample.number for one in shown]
    if number in numbers:
        place = numbers.index(number)
    else:
        place = next((at for at, one in enumerate(shown) if one.is_failure), 0)
    chosen = shown[place]
    return ChosenSample(
        view=chosen,
        picture=_picture(chosen.sample, view) if chosen.has_picture else None,
        options={
            letter: view.domain.actions.get(action, action)
            for letter, action in chosen.sample.actions.items()
        },
        place=place + 1,
        total=len(shown),
        previous=numbers[place - 1] if place else None,
        following=numbers[place + 1] if place + 1 < len(numbers) else None,
        facts=_facts(chosen.sample, view),
    )


def _facts(sample: Sample, view: TrialView) -> SceneFacts:
    if not sample.description_digest and not sample.description:  # no scene was made for it
        remade = RemadeScene({}, NOT_STORED)
    else:
        remade = remade_description(sample, view.domain, backend=view.config.backend)
    address = reverse("trial_detail", args=[view.trial.run_id, view.trial.pk])
    return SceneFacts(
        seed=sample.scene_seed,
        attempt=sample.attempt,
        digest=sample.description_digest,
        made_by=made_by(sample.provenance),
        lines=scene_lines(sample.annotations, view.domain, masks={}),
        decision=None,  # the page says it once, for the whole set
        description=indented(remade.description),
        note=remade.note,
        json_url=f"{address}?sample={sample.number}&as=json" if remade.description else "",
    )


def _picture(sample: Sample, view: TrialView) -> BoxedPicture:
    labels = {concept.id: concept.label for concept in view.domain.concepts}
    annotations: Sequence[Mapping[str, Any]] = sample.annotations
    words = set_words(view.trial.concepts, view.domain.ref)
    return BoxedPicture(
        url=reverse("blob", args=[sample.image_sha256]),
        alt=f"Scene {sample.number + 1} of {words}",
        width=view.config.image_width,
        height=view.config.image_height,
        boxes=boxes_of(annotations, labels),
    )


def _evidence(view: TrialView) -> RuleEvidence:
    if view.decision is None:
        return RuleEvidence(None, 0, "", (), has_changed=True)
    key = tuple(view.trial.concepts)
    fired_id = view.trial.rule_id or view.decision.rule_id
    rules = {rule.id: (place, rule) for place, rule in enumerate(view.domain.rules, start=1)}
    place, rule = rules.get(fired_id, (0, None))
    has_changed = view.decision.rule_id != fired_id or (
        bool(view.trial.expected_action) and view.decision.action != view.trial.expected_action
    )
    fit = fit_words(view.domain, rule, key) if rule else ""
    return RuleEvidence(rule, place, fit, lost_rules(view.domain, key, fired_id), has_changed)


def _relatives(trial: Trial) -> Relatives:
    own = frozenset(trial.concepts)
    failing = failing_sets([trial.run])[trial.run_id]
    smaller = [pk for pk, concepts in failing.items() if concepts < own]
    larger = [pk for pk, concepts in failing.items() if concepts > own]
    wanted = [*smaller[:RELATIVES], *larger[:RELATIVES]]
    rows = Trial.objects.select_related("finding").in_bulk(wanted) if wanted else {}
    return Relatives(
        smaller=[rows[pk] for pk in smaller[:RELATIVES]],
        larger=[rows[pk] for pk in larger[:RELATIVES]],
        n_smaller=len(smaller),
        n_larger=len(larger),
    )


def _sentence(view: TrialView) -> str:
    """Return one sentence of what happens on this set."""
    trial, name = view.trial, view.trial.run.sut.name
    expected = view.domain.actions.get(trial.expected_action, trial.expected_action).lower()
    answers = trial.answers
    if not answers:
        return f"{name} has not answered for this set."
    if not trial.fails:
        return f"{name} answered “{expected}” as expected in {_all(answers)}."
    wrong: dict[str, int] = {}
    for one in view.samples:
        if one.is_failure:
            label = view.domain.actions.get(one.sample.answered_action, "")
            wrong[label] = wrong.get(label, 0) + 1
    label = min(wrong, key=lambda word: (-wrong[word], word)) if wrong else ""
    if not label:
        return f"{name} gave no readable answer where “{expected}” is expected."
    verb = "mostly answers" if len(wrong) > 1 else "answers"
    scenes = f"{trial.fails} of {answers} scenes were answered wrongly"
    return f"{name} {verb} “{label.lower()}” where “{expected}” is expected: {scenes}."


def _all(answers: int) -> str:
    return "the only scene" if answers == 1 else f"all {answers} scenes"
