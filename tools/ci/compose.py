"""Checks ``compose.yaml``: by the Docker client where it is installed, else its structure."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

SERVICE_KEYS = frozenset(
    (
        "build", "command", "depends_on", "deploy", "entrypoint", "env_file", "environment", "healthcheck",
        "image", "init", "ports", "profiles", "read_only", "restart", "shm_size", "stop_grace_period",
        "tmpfs", "user", "volumes",
    )
)  # fmt: skip


def problems_of(document: Any) -> list[str]:
    """Return what is wrong with a parsed compose file, one sentence each."""
    if not isinstance(document, dict) or not isinstance(document.get("services"), dict):
        return ["there is no mapping “services”"]
    services, volumes = document["services"], document.get("volumes") or {}
    found = []
    for name, service in services.items():
        unknown = sorted(set(service) - SERVICE_KEYS)
        if unknown:
            found.append(f"{name}: unknown keys {', '.join(unknown)}")
        if "image" not in service and "build" not in service:
            found.append(f"{name}: neither image nor build")
        found += [
            f"{name}: depends on unknown {other}"
            for other in service.get("depends_on") or ()
            if other not in services
        ]
        for volume in service.get("volumes") or ():
            source = str(volume).partition(":")[0]
            if not source.startswith((".", "/", "~")) and source not in volumes:
                found.append(f"{name}: volume {source} is not declared")
    return found


def main(path: Path = Path("compose.yaml")) -> int:
    """Check the file; return the exit status."""
    docker = shutil.which("docker")
    if (
        docker
        and not subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode
    ):
        environment = {
            "VLMLAB_SECRET_KEY": "check",
            "VLMLAB_FIELD_KEYS": "check",
            "POSTGRES_PASSWORD": "check",
            "PATH": str(Path(docker).parent),
        }
        return subprocess.run(
            [docker, "compose", "-f", path, "config", "-q"], env=environment, check=False
        ).returncode
    try:
        found = problems_of(yaml.safe_load(path.read_text("utf-8")))
    except (yaml.YAMLError, OSError) as error:
        found = [str(error)]
    for sentence in found:
        print(f"{path}: {sentence}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
