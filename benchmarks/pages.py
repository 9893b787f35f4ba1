"""Times the pages of runs and findings on a run of 100,000 concept sets, through Django's test client.

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
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GOAL_MS = 300.0
CHUNK = 2000
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
        rows = measure(paths(run_pk, finding_pk, trial_pk, middle), options.repeats)
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
            answer = client.get(path)
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
