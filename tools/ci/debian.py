"""Programs that tests need and pip cannot install: found, or installed where that is allowed."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
POSTGRES_FOLDERS = ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/pgsql-*/bin")


def chromium() -> str | None:
    """Return a Chromium or Chrome, installing Debian's package when that is allowed."""
    return find_chromium() or (find_chromium() if install("chromium") else None)


def find_chromium() -> str | None:
    """Return a Chromium or Chrome of this machine."""
    configured = os.environ.get("VLMLAB_CHROMIUM")
    if configured:
        return configured
    found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    return found or (MAC_CHROME if Path(MAC_CHROME).exists() else None)


def postgres_folder() -> Path | None:
    """Return the folder of PostgreSQL's server programs, installing Debian's package when that is allowed."""
    return find_postgres_folder() or (find_postgres_folder() if install("postgresql") else None)


def find_postgres_folder() -> Path | None:
    """Return the folder that holds ``initdb`` and ``pg_ctl``."""
    on_path = shutil.which("initdb")
    if on_path and shutil.which("pg_ctl"):
        return Path(on_path).parent
    for pattern in POSTGRES_FOLDERS:
        for folder in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            if (folder / "initdb").exists():
                return folder
    return None


def install(*packages: str) -> bool:
    """Install Debian packages when this is Debian and we are root; say what to install otherwise."""
    names = " ".join(packages)
    if not shutil.which("apt-get") or os.geteuid() != 0:
        print(f"Missing: {names}. Tests that need it are skipped; install it to run them.")
        return False
    print(f"Installing {names} ...", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        if not _apt(command, environment):
            print(f"apt-get could not install {names}. Tests that need it are skipped.")
            return False
    return True


def _apt(arguments: Sequence[str], environment: dict[str, str]) -> bool:
    done = subprocess.run(
        ["apt-get", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stderr.strip()[-800:])
    return done.returncode == 0
