"""Every check of the project, in order of cost: ``python -m tools.ci.everything [--only-checks]``."""

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tools.ci.debian import chromium, postgres_folder
from tools.ci.postgres import temporary_server

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("vlmlab", "searches", "humanstudy")
POSTGRES_SHARES = (  # each on a server of its own: the first one's server is made to crash
    ("tests/searches/faults", "tests/searches/models"),
    (
        "tests/searches/services",
        "tests/humanstudy/services",
        "tests/searches/pages/test_finding_pages.py",  # its filters look into JSON columns
    ),
)
PRODUCTION = {
    "VLMLAB_DEBUG": "0",
    "VLMLAB_HTTPS": "1",
    "VLMLAB_ALLOWED_HOSTS": "lab.example.org",
    "VLMLAB_CSRF_TRUSTED_ORIGINS": "https://lab.example.org",
}


@dataclass(frozen=True)
class Check:
    """One command that must end with status 0."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def static_checks() -> list[Check]:
    """Return the checks that run no tests."""
    python, tool = sys.executable, Path(sys.executable).parent
    production = {**PRODUCTION, "VLMLAB_SECRET_KEY": secrets.token_urlsafe(60)}
    checks = [
        Check("types", (str(tool / "mypy"), *PACKAGES, "tools/ci")),
        Check("format", (str(tool / "ruff"), "format", "--check", "--quiet", ".")),
        Check("ruff", (str(tool / "ruff"), "check", "--quiet", ".")),
        Check("layers", (str(tool / "lint-imports"), "--no-cache")),
        Check("migrations", (python, "manage.py", "makemigrations", "--check", "--dry-run")),
        Check(
            "deployment", (python, "manage.py", "check", "--deploy", "--fail-level", "WARNING"), production
        ),
        Check("compose.yaml", (python, "-m", "tools.ci.compose")),
    ]
    node = shutil.which("node")
    if node:
        scripts = sorted(Path("static/js").glob("*.js"))
        checks += [Check(f"syntax of {script.name}", (node, "--check", str(script))) for script in scripts]
    return checks


def run(check: Check) -> bool:
    """Run one check; show what it says only when it fails."""
    began = time.monotonic()
    done = subprocess.run(
        check.command,
        env={**os.environ, **check.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict = "ok" if done.returncode == 0 else "FAILED"
    report = f"{check.name:32} {verdict:8} {time.monotonic() - began:5.1f} s"
    print(report if done.returncode == 0 else f"{report}\n{done.stdout}", flush=True)
    return done.returncode == 0


def run_all(checks: Sequence[Check]) -> list[str]:
    """Run checks side by side; return the names of those that failed."""
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        verdicts = list(pool.map(run, checks))
    return [check.name for check, is_ok in zip(checks, verdicts, strict=True) if not is_ok]


def run_tests(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run pytest, its output as it comes; return its status."""
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, check=False).returncode


def run_tests_on_postgres(environment: Mapping[str, str]) -> int:
    """Run what depends on the database on PostgreSQL, two shares side by side; show each once it is done."""
    if postgres_folder() is None:
        print("PostgreSQL is missing: its tests are skipped.")
        return 0
    print("\nTests on PostgreSQL", flush=True)
    with ThreadPoolExecutor(len(POSTGRES_SHARES)) as pool:
        statuses = list(pool.map(partial(_share_on_postgres, environment=environment), POSTGRES_SHARES))
    return next((status for status in statuses if status), 0)


def _share_on_postgres(folders: Sequence[str], *, environment: Mapping[str, str]) -> int:
    with temporary_server() as url:
        ours = {"VLMLAB_DATABASE_URL": url or "", "VLMLAB_TEST_POSTGRES_MAY_CRASH": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders]
        done = subprocess.run(
            command,
            env={**os.environ, **environment, **ours},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    print(done.stdout, flush=True)
    return done.returncode


def main() -> int:
    """Run everything; pytest's closing line on SQLite is the last unless something before it failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-checks", action="store_true", help="leave the tests out")
    only_checks = parser.parse_args().only_checks
    os.chdir(ROOT)
    failed = run_all(static_checks())
    if failed:
        print(f"\nFAILED: {', '.join(failed)}. Tests are not run before these pass.")
        return 1
    if only_checks:
        return 0
    browser = chromium()
    environment = {"OMP_NUM_THREADS": "1", **({"VLMLAB_CHROMIUM": browser} if browser else {})}
    on_postgres = run_tests_on_postgres(environment)
    print("\nTests on SQLite", flush=True)
    # Two processes share the work, a file to each in turn: half the time on two cores. The order of
    # tests/conftest.py must stay: browser tests last.
    side_by_side = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    on_sqlite = run_tests(["-q", "--durations=15", *side_by_side], environment)
    if on_postgres:
        print("FAILED: the tests on PostgreSQL, see above.")
    return on_sqlite or on_postgres


if __name__ == "__main__":
    sys.exit(main())
