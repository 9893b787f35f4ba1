"""Times the pages of the site on a run of 100,000 concept sets, through Django's test client.

    python benchmarks/pages.py [--sets 100000] [--repeats 5] [--json OUT]

Fills a scratch SQLite file below a temporary folder (about a minute) and asks each page a few times; the
median of the wall time counts. Processor time stands beside it, because other work on the machine stretches
the wall time. The goal is 300 ms for every page.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GOAL_MS = 300.0
CHUNK = 2000
SYSTEMS = 30
SPEND_DAYS = 365
CALIBRATIONS = 100  # of the first system
SAMPLES_OF_FIRST_SETS = 2000  # sets that get their samples, too: as many as one page can show, and more


def main() -> int:
    """Fill, measure, print a table; return 1 when a page misses the goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vlmlab-pages-") as folder:
        prepare_django(Path(folder))
        run_pk, finding_pk, trial_pk, middle = fill(options.sets)
        pages = paths(run_pk, finding_pk, trial_pk, middle) + fill_systems()
        rows = measure(pages, options.repeats)
    print(f"{options.sets:,} concept sets in one run; median of {options.repeats}, milliseconds\n")
    print(f"{'page':<44}{'first':>8}{'median':>9}{'CPU':>7}{'kB':>7}")
    for row in rows:
        print(
            f"{row['page']:<44}{row['first_ms']:>8.0f}{row['median_ms']:>9.0f}{row['cpu_ms']:>7.0f}{row['kb']:>7.0f}"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    slow = [row["page"] for row in rows if row["median_ms"] > GOAL_MS and row["has_goal"]]
    print(f"\nslower than {GOAL_MS:.0f} ms: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


def prepare_django(folder: Path) -> None:
    """Point the lab at a database of its own and make its tables."""
    sys.path.insert(0, str(ROOT))
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "vlmlab.settings",
        "VLMLAB_DATA_DIR": str(folder),
        "VLMLAB_DATABASE_URL": f"sqlite:///{folder / 'pages.sqlite3'}",
        "VLMLAB_DEBUG": "1",
        "VLMLAB_LOG_LEVEL": "ERROR",
    }
    import django
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    settings.DEBUG = False
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)


def fill(n_sets: int) -> tuple[int, int, int, int]:
    """Write one finished run; return its number, that of a finding, of its set, and a set in the middle."""
    from searches.enums import RunState
    from searches.models import Campaign, Finding, RunEvent, SearchRun, SutRecord, User
    from vlmlab.core.revelio.config import RevelioConfig
    from vlmlab.core.scenes.catalogue import load_domain
    from vlmlab.web.roles import Role

    domain = load_domain("driving")
    User.objects.create(username="bench", role=Role.RESEARCHER)
    sut = SutRecord.objects.create(slug="bench", name="Bench", kind="scripted")
    config = RevelioConfig(algorithm="random", inference_budget=5 * n_sets)
    for number in range(60):  # a list has more than one row
        campaign = Campaign.objects.create(
            name=f"Campaign {number}",
            domain=domain.slug,
            domain_version=domain.version,
            config=config.model_dump(mode="json"),
        )
        run = SearchRun.objects.create(campaign=campaign, sut=sut, run_seed=number, state=RunState.SUCCEEDED)
    counts = write_sets(run, domain, n_sets)
    RunEvent.objects.bulk_create([RunEvent(run=run, text=f"Line {n}.") for n in range(5000)])
    SearchRun.objects.filter(pk=run.pk).update(**counts)
    finding = Finding.objects.order_by("-size", "pk").first()
    assert finding is not None
    return run.pk, finding.pk, finding.trial_id, n_sets // 2


def write_sets(run: Any, domain: Any, n_sets: int) -> dict[str, Any]:
    """Write sets, samples of the first ones and findings in bulk; return the run's counters."""
    from searches.enums import TrialStatus
    from searches.models import Sample, Trial

    masks = domain.universe()[:n_sets]
    counts: dict[str, dict[str, int]] = {}
    for start in range(0, len(masks), CHUNK):
        rows = []
        for order, mask in enumerate(masks[start : start + CHUNK], start=start):
            key = domain.key_of(int(mask))
            decision = domain.decide(key)
            fails = 4 if order % 20 == 3 else order % 3  # one set in twenty is a failure mode
            rows.append(
                Trial(
                    run=run, order=order, key="+".join(key), concepts=list(key), size=len(key),
                    stage="random", expected_action=decision.action, rule_id=decision.rule_id,
                    fails=fails, passes=5 - fails,
                    status=TrialStatus.DECIDED_FAIL if fails >= 3 else TrialStatus.DECIDED_PASS,
                )
            )  # fmt: skip
            row = counts.setdefault(
                decision.action, {"answers": 0, "fails": 0, "invalid": 0, "decided": 0, "modes": 0}
            )
            for name, more in (("answers", 5), ("fails", fails), ("decided", 1), ("modes", int(fails >= 3))):
                row[name] += more
        made = Trial.objects.bulk_create(rows)
        if start < SAMPLES_OF_FIRST_SETS:
            Sample.objects.bulk_create([one for trial in made for one in samples_of(trial)])
        write_findings(run, made)
    failed, answers = (sum(row[name] for row in counts.values()) for name in ("fails", "answers"))
    return {
        "n_trials": len(masks), "n_decided": len(masks), "n_observations": answers, "n_inferences": answers,
        "n_failed": failed, "n_modes": sum(row["modes"] for row in counts.values()), "by_expected": counts,
        "step": answers // 8, "active_seconds": answers * 0.3,
    }  # fmt: skip


def samples_of(trial: Any) -> list[Any]:
    """Return the five samples of a set."""
    from searches.enums import Verdict
    from searches.models import Sample

    return [
        Sample(
            run_id=trial.run_id, trial=trial, step=trial.order, position=number, number=number,
            scene_seed=number, image_sha256=f"{trial.order * 5 + number:064x}",
            prompt="What should the car do now?\nA) x\nB) y\nC) z",
            actions={"A": "continue", "B": "slow_down", "C": "emergency_stop"}, expected_letter="C",
            expected_action=trial.expected_action, raw_text="A", answer_status="answered", letter="A",
            answered_action="continue", direction="under-reaction",
            verdict=Verdict.FAIL if number < trial.fails else Verdict.PASS,
            told_verdict=Verdict.FAIL if number < trial.fails else Verdict.PASS, latency_ms=100.0,
        )
        for number in range(5)
    ]  # fmt: skip


def write_findings(run: Any, trials: list[Any]) -> None:
    """Write a finding for each failing set."""
    from searches.models import Finding

    Finding.objects.bulk_create(
        Finding(
            run=run, trial=trial, sut_id=run.sut_id, domain="driving", domain_version="1", key=trial.key,
            concepts=trial.concepts, size=trial.size, fails=trial.fails, n=5,
            is_minimal_in_run=trial.size <= 3, expected_action=trial.expected_action,
            answered_action="continue", direction="under-reaction", rule_id=trial.rule_id,
            found_at_inference=trial.order * 5, thumbnails=[f"{trial.order:064x}"],
        )
        for trial in trials
        if trial.fails >= 3
    )  # fmt: skip


def paths(run_pk: int, finding_pk: int, trial_pk: int, middle: int) -> list[tuple[str, str, bool]]:
    """Return name, address and whether the goal holds for it."""
    return [
        ("list of runs", "/runs/", True),
        ("run page", f"/runs/{run_pk}/", True),
        ("run page, polled part", f"/runs/{run_pk}/progress/", True),
        ("run page, metrics (fetched after it)", f"/runs/{run_pk}/metrics/", False),
        ("concept sets, first page", f"/runs/{run_pk}/sets/", True),
        ("concept sets, middle", f"/runs/{run_pk}/sets/?after={middle}", True),
        ("concept sets, failing only", f"/runs/{run_pk}/sets/?status=decided_fail", True),
        ("concept sets, expected continue", f"/runs/{run_pk}/sets/?expected=continue", True),
        ("one concept set", f"/runs/{run_pk}/sets/{trial_pk}/", True),
        ("findings", "/findings/", True),
        ("findings, minimal only", "/findings/?minimal=on", True),
        ("findings, words", "/findings/?q=cone + fog", True),
        ("findings, last page", "/findings/?page=last", True),
        ("one finding", f"/findings/{finding_pk}/", True),
        ("new search", "/runs/new/", True),
        ("overview", "/", True),
    ]


def fill_systems() -> list[tuple[str, str, bool]]:
    """Write remote systems with keys, calibrations, spending and a comparison; return their pages."""
    from searches.models import ApiKey, SpendDay, SutRecord, User
    from searches.services.tokens import create_token
    from vlmlab.core.suts.kinds import parse_params
    from vlmlab.web.sealing import Sealed

    person = User.objects.get(username="bench")
    origin = "https://api.openai.com"
    params = parse_params(
        "openai_chat", {"model": "bench-vl", "input_price_usd": 1.0, "output_price_usd": 4.0}
    ).model_dump(mode="json")
    suts = []
    for number in range(SYSTEMS):
        key = ApiKey.objects.create(
            name=f"Key {number}", kind="openai_chat", origin=origin, secret=Sealed.of("sk-bench-0123456789")
        )
        suts.append(
            SutRecord.objects.create(
                slug=f"remote-{number}", name=f"Remote {number}", kind="openai_chat", params=params,
                api_key=key, fingerprint="f" * 64, n_calls=1000, input_tokens=10**6, output_tokens=10**5,
                spend_usd=1.4, latency_ms_sum=5e5,
            )
        )  # fmt: skip
    today = timezone_today()
    SpendDay.objects.bulk_create(
        SpendDay(sut=sut, day=today - timedelta(days=days), n_calls=10, cost_usd=0.01)
        for sut in suts
        for days in range(SPEND_DAYS)
    )
    calibration = calibrate_systems(suts)
    group = compare_systems(suts[:6])
    token = create_token(by=person, name="bench", days=None).text
    return [
        ("systems", "/suts/", True),
        ("one system", "/suts/remote-0/", True),
        ("edit a system", "/suts/remote-0/edit/", True),
        ("register a system, all presets", "/suts/new/", True),
        ("calibrations of a system", "/suts/remote-0/calibrations/", True),
        ("one calibration", f"/suts/remote-0/calibrations/{calibration}/", True),
        ("try a system", "/suts/remote-0/try/", True),
        ("comparison of six systems", f"/suts/compare/?group={group}", True),
        ("keys", "/keys/", True),
        ("API reference", "/api/", True),
        ("API: runs", f"/api/v1/runs token={token}", True),
        ("API: systems", f"/api/v1/suts token={token}", True),
        ("API: findings", f"/api/v1/findings token={token}", True),
    ]


def timezone_today() -> Any:
    """Return the day of today in UTC, as spending is counted."""
    from django.utils import timezone

    return timezone.now().date()


def calibrate_systems(suts: list[Any]) -> int:
    """Write calibrations as a probe leaves them, many of the first system; return the newest of it."""
    from searches.models import Calibration
    from searches.services.calibration_rows import calibration_values
    from searches.services.suts import asking_of
    from vlmlab.core.replies.calibration import judge_answers, judge_boxes, probe_pictures
    from vlmlab.core.suts.base import SutReply

    pictures, asking = probe_pictures(), asking_of(suts[0])
    boxes = [SutReply(f'{{"bbox_2d": {[round(side) for side in one.box]}}}' * 20) for one in pictures]
    letters = [SutReply(one.expected_letter) for one in pictures]
    values = calibration_values(
        pictures,
        boxes,
        letters,
        boxes=judge_boxes(pictures, boxes, asking.convention),
        answers=judge_answers(pictures, letters),
    ) | {"fingerprint": "f" * 64, "asking": asking.model_dump(mode="json")}
    many = [suts[0]] * CALIBRATIONS + suts[1:]
    Calibration.objects.bulk_create([Calibration(sut=sut, **values) for sut in many])
    return int(Calibration.objects.filter(sut=suts[0]).values_list("pk", flat=True).order_by("-pk")[0])


def compare_systems(suts: list[Any]) -> Any:
    """Write one answered question about boxes for several systems; return their group."""
    import uuid

    from searches.enums import JobKind, JobState
    from searches.models import Blob, Job

    group, picture = uuid.uuid4(), Blob.objects.values_list("sha256", flat=True).first()
    items = [{"label": "car", "box": [n, n, n + 50, n + 50], "flags": []} for n in range(100)]
    read = {"status": "boxes", "reason": "", "flags": [], "items": items, "salvage": [], "n_items": 100}
    for sut in suts:
        asked = {"sut": sut.slug, "image_sha256": picture, "prompt": "?", "mode": "boxes", "targets": "cars"}
        result = {
            "latency_ms": 10.0, "load_seconds": 0.0, "finish_reason": "stop", "size": [448, 336],
            "text": "word " * 1000, "input_tokens": 100, "output_tokens": 100, "cost_usd": 0.01,
            "n_attempts": 1, "served_model": "", "boxes": read,
        }  # fmt: skip
        Job.objects.create(
            kind=JobKind.TRY_SUT, group=group, state=JobState.DONE, params=asked, result=result
        )
    return group


def measure(addresses: list[tuple[str, str, bool]], repeats: int) -> list[dict[str, Any]]:
    """Return one row for each page."""
    from django.test import Client

    from searches.models import User

    client = Client()
    client.force_login(User.objects.get(username="bench"))
    client.get("/credits/")  # the first request loads templates and domain
    rows = []
    for name, path, has_goal in addresses:
        taken, busy, size = [], [], 0
        for _ in range(repeats + 1):
            started, worked = time.perf_counter(), time.process_time()
            where, _, token = path.partition(" token=")
            headers = {"authorization": f"Bearer {token}"} if token else {}
            answer = client.get(where, headers=headers)
            taken.append(1000 * (time.perf_counter() - started))
            busy.append(1000 * (time.process_time() - worked))
            size = len(answer.content)
            if answer.status_code not in (200, 286):
                raise SystemExit(f"{path} answered {answer.status_code}")
        rows.append(
            {
                "page": name,
                "first_ms": taken[0],
                "median_ms": statistics.median(taken[1:]),
                "cpu_ms": statistics.median(busy[1:]),
                "kb": size / 1000,
                "has_goal": has_goal,
            }
        )
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
