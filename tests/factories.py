"""Plain functions that make rows for tests; every value can be said, nothing is random."""

import hashlib
import itertools
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from searches.enums import FindingState, RunState, TrialStatus, Verdict
from searches.models import Blob, Campaign, Finding, RunEvent, Sample, SearchRun, SutRecord, Trial, User
from tests.doubles import paint_png
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role

PASSWORD = "correct horse battery"
_number = itertools.count(1)


def make_user(role: Role = Role.RESEARCHER, *, username: str = "", **values: Any) -> User:
    user = User(username=username or f"{role.value}{next(_number)}", role=role, **values)
    user.set_password(PASSWORD)
    user.save()
    return user


def make_sut(slug: str = "", **values: Any) -> SutRecord:
    slug = slug or f"sut-{next(_number)}"
    defaults: dict[str, Any] = {
        "name": slug.replace("-", " ").title(),
        "kind": "scripted",
        "params": {},
        "queue": "cpu",
        "fingerprint": hashlib.sha256(slug.encode()).hexdigest(),
    }
    return SutRecord.objects.create(slug=slug, **defaults | values)


def make_campaign(**values: Any) -> Campaign:
    defaults: dict[str, Any] = {
        "name": "A search",
        "method": "revelio",
        "domain": "driving",
        "domain_version": load_domain("driving").version,
        "config": {"algorithm": "random", "inference_budget": 60},
    }
    return Campaign.objects.create(**defaults | values)


def make_run(sut: SutRecord | None = None, *, campaign: Campaign | None = None, **values: Any) -> SearchRun:
    sut = sut or make_sut()
    defaults: dict[str, Any] = {"run_seed": 7, "queue": sut.queue}
    return SearchRun.objects.create(campaign=campaign or make_campaign(), sut=sut, **defaults | values)


def make_blob(png: bytes | None = None) -> Blob:
    png = png if png is not None else paint_png((next(_number) % 256, 90, 120))
    sha256 = hashlib.sha256(png).hexdigest()
    path = Path(settings.BLOB_DIR) / sha256[:2] / f"{sha256}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png)
    blob, _ = Blob.objects.get_or_create(
        sha256=sha256, defaults={"size": len(png), "touched_at": timezone.now()}
    )
    return blob


def make_trial(
    run: SearchRun, concepts: tuple[str, ...] = ("cone",), *, verdicts: str = "FFFPF", **values: Any
) -> Trial:
    """Make a trial with one sample a letter: F fail, P pass, I invalid, E call error."""
    fails, passes = sum(verdicts.count(sign) for sign in "FI"), verdicts.count("P")
    defaults: dict[str, Any] = {
        "order": run.trials.count(),
        "key": "+".join(concepts),
        "concepts": list(concepts),
        "size": len(concepts),
        "stage": "level 1",
        "expected_action": "stop",
        "rule_id": "",
        "fails": fails,
        "passes": passes,
        "invalid": verdicts.count("I"),
        "call_errors": verdicts.count("E"),
        "status": TrialStatus.DECIDED_FAIL if fails >= 3 else TrialStatus.DECIDED_PASS,
    }
    trial = Trial.objects.create(run=run, **defaults | values)
    first = run.samples.count()
    for number, sign in enumerate(verdicts):
        make_sample(trial, sign, number=number, step=(first + number) // 8, position=(first + number) % 8)
    return trial


def make_sample(
    trial: Trial, sign: str = "F", *, number: int, step: int, position: int, **values: Any
) -> Sample:
    verdict = {"F": Verdict.FAIL, "I": Verdict.FAIL, "P": Verdict.PASS, "E": Verdict.CALL_ERROR}[sign]
    is_answered = sign in "FP"
    defaults: dict[str, Any] = {
        "run": trial.run,
        "number": number,
        "step": step,
        "position": position,
        "scene_seed": 1000 + trial.order * 100 + number,
        "image_sha256": make_blob().sha256,
        "prompt": "What must the car do now?\nA) go on\nB) slow down\nC) stop\nAnswer with one letter.",
        "actions": {"A": "continue", "B": "slow_down", "C": "stop"},
        "expected_letter": "C",
        "expected_action": trial.expected_action,
        "raw_text": {"F": "A", "P": "C", "I": "I like trains", "E": ""}[sign],
        "finish_reason": "" if sign == "E" else "stop",
        "answer_status": "" if sign == "E" else ("answered" if is_answered else "invalid"),
        "letter": {"F": "A", "P": "C"}.get(sign, ""),
        "answered_action": {"F": "continue", "P": "stop"}.get(sign, ""),
        "direction": "under-reaction" if sign == "F" else "",
        "verdict": verdict,
        "told_verdict": verdict,
        "latency_ms": 120.0,
        "error": "The server did not answer." if sign == "E" else "",
    }
    return Sample.objects.create(trial=trial, **defaults | values)


def make_finding(trial: Trial, **values: Any) -> Finding:
    shown = trial.samples.filter(verdict=Verdict.FAIL).values_list("image_sha256", flat=True)[:4]
    defaults: dict[str, Any] = {
        "run": trial.run,
        "sut": trial.run.sut,
        "domain": trial.run.campaign.domain,
        "domain_version": trial.run.campaign.domain_version,
        "state": FindingState.SUSPECTED,
        "key": trial.key,
        "concepts": trial.concepts,
        "size": trial.size,
        "fails": trial.fails,
        "invalid": trial.invalid,
        "n": trial.fails + trial.passes,
        "is_curtailed": trial.is_curtailed,
        "expected_action": trial.expected_action,
        "answered_action": "continue",
        "direction": "under-reaction",
        "thumbnails": list(shown),
    }
    return Finding.objects.create(trial=trial, **defaults | values)


def make_finished_run(sut: SutRecord | None = None, **values: Any) -> SearchRun:
    """Make a finished run: three sets, fifteen samples with pictures, two findings, two lines of log."""
    run = make_run(sut, **{"state": RunState.SUCCEEDED, "finished_at": timezone.now()} | values)
    failing = make_trial(run, ("cone", "far"), verdicts="FFFPF")
    worst = make_trial(run, ("cone", "fog"), verdicts="FFFI", is_curtailed=True)
    make_trial(run, ("town_01",), verdicts="PPPPE", expected_action="continue")
    make_finding(failing, found_at_inference=5)
    make_finding(worst, found_at_inference=9)
    RunEvent.objects.create(run=run, text="Started.")
    RunEvent.objects.create(run=run, text="Finished: 13 answers, 2 failure modes.")
    SearchRun.objects.filter(pk=run.pk).update(
        step=2,
        n_inferences=13,
        n_observations=13,
        n_failed=8,
        n_invalid=1,
        n_call_errors=1,
        n_trials=3,
        n_decided=3,
        n_modes=2,
        n_pictures=14,
        by_expected={
            "stop": {"answers": 9, "fails": 8, "invalid": 1, "decided": 2, "modes": 2},
            "continue": {"answers": 4, "fails": 0, "invalid": 0, "decided": 1, "modes": 0},
        },
    )
    run.refresh_from_db()
    return run
