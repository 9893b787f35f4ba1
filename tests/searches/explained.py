"""A small search whose explanations can be worked by hand, and follow-ups of it."""

from searches.enums import TrialStatus, Verdict
from searches.models import Sample, SearchRun, Trial
from tests.factories import make_campaign, make_finding, make_run, make_sut, make_trial
from tests.searches.follow_up_factory import make_follow_up, make_follow_up_run

WHOLE = {"algorithm": "random", "inference_budget": 60, "samples_per_set": 5, "failure_rate_threshold": 0.6}
EARLY = WHOLE | {"algorithm": "sits"}
CONE, FOG, CHILD = "cone", "weather_foggy", "child_pedestrian"


def searched(config=WHOLE, *, sut=None, **values) -> SearchRun:
    """Make a finished random search of three sets: 5 of 5, 1 of 5 and 0 of 5 answers wrong.

    F(cone) = (1.0 + 0.2) / 2, F(fog) = (1.0 + 0.0) / 2, F(child) = 0.
    """
    campaign = make_campaign(config=config)
    run = make_run(sut or make_sut(), campaign=campaign, state="succeeded", **values)
    both = make_trial(run, (CONE, FOG), verdicts="FFFFI", expected_action="emergency_stop")
    make_trial(run, (CONE,), verdicts="PPPPF", expected_action="slow_down")
    make_trial(run, (CHILD, FOG), verdicts="PPPPPE", expected_action="emergency_stop")
    make_finding(both, expected_action="emergency_stop")
    SearchRun.objects.filter(pk=run.pk).update(n_observations=15)
    run.refresh_from_db()
    return run


def follow_up(run: SearchRun, kind: str = "confirm", **values) -> SearchRun:
    """Make a finished follow-up of a search on the same system, without items."""
    return make_follow_up_run(make_follow_up(kind, follows=run.campaign), run.sut, **values)


def ask_fresh(run: SearchRun, concepts: tuple[str, ...], *, verdicts: str, block: str = "b" * 16) -> Trial:
    """Ask a set on fresh scenes."""
    return make_trial(run, concepts, verdicts=verdicts, block=block, status=TrialStatus.OPEN)


def say(trial: Trial, *, right: dict[str, bool]) -> Trial:
    """Ask the scenes of a fresh trial again behind a true and a false statement a concept.

    ``right`` says for each concept whether both statements are judged right in every reply.
    """
    primed = Trial.objects.create(
        run=trial.run,
        order=trial.run.trials.count(),
        key=trial.key,
        block=trial.block,
        variant="statements",
        concepts=trial.concepts,
        size=trial.size,
        expected_action=trial.expected_action,
        passes=trial.fails + trial.passes,
    )
    statements = [
        {"text": f"{concept} {truth}", "concept": concept, "is_true": truth, "said": truth is is_right}
        for concept, is_right in right.items()
        for truth in (True, False)
    ]
    step = 1_000 + primed.order  # behind all that factories make
    for number in range(trial.fails + trial.passes):
        Sample.objects.create(
            run=trial.run,
            trial=primed,
            step=step,
            position=number,
            number=number,
            scene_seed=number,
            expected_action=trial.expected_action,
            answer_status="answered",
            verdict=Verdict.PASS,
            told_verdict=Verdict.PASS,
            statements=statements,
        )
    return primed
