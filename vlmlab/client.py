"""A thin client of the REST API, for notebooks, scripts and pipelines; it needs ``httpx2`` and nothing else.

with Lab("https://lab.example.org", token) as lab:
    campaign = lab.start_search(domain="driving", suts=["pocket"], config={"inference_budget": 60})
    run = lab.wait(campaign.runs[0])
    for finding in lab.findings(run=run):
        print(finding.words, finding.fails, finding.samples)
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from vlmlab.client_calls import Values
from vlmlab.client_datasets import DatasetCalls
from vlmlab.client_http import part
from vlmlab.client_types import (
    Campaign,
    Dataset,
    Finding,
    Job,
    LabError,
    LabTimeout,
    Person,
    Run,
    Sut,
)

__all__ = ["Campaign", "Dataset", "Finding", "Job", "Lab", "LabError", "LabTimeout", "Person", "Run", "Sut"]

RESTING = frozenset({"paused", "failed", "cancelled", "succeeded"})


class Lab(DatasetCalls):
    """A lab, as the owner of a token sees it.

    Only reading is repeated when the connection breaks or the lab is busy; nothing that changes something is
    ever sent twice.

    Args:
        url: address of the site, such as ``https://lab.example.org``.
        token: made under **API tokens**; it is never shown or logged.
        timeout: seconds to wait for an answer.
        tries: how often a reading request is sent at most.
        transport: for tests: how requests travel.
        sleep: for tests: waits a number of seconds.
        clock: for tests: seconds that never go back.
    """

    def me(self) -> Person:
        """Return who the token belongs to; the cheapest way to check it."""
        return self._one(Person, "GET", "/me")

    def kinds(self) -> list[dict[str, Any]]:
        """Return the kinds of systems, each with the JSON schema of its ``params``."""
        kinds: list[dict[str, Any]] = self._lab.json("GET", "/kinds")
        return kinds

    def presets(self) -> list[dict[str, Any]]:
        """Return ready-made settings for known models."""
        presets: list[dict[str, Any]] = self._lab.json("GET", "/presets")
        return presets

    def domain(self, slug: str = "driving") -> dict[str, Any]:
        """Return a domain with its concepts."""
        domain: dict[str, Any] = self._lab.json("GET", f"/domains/{part(slug)}")
        return domain

    def suts(self, *, kind: str = "", is_enabled: bool | None = None) -> list[Sut]:
        """Return the registered systems, newest first."""
        return self._all(Sut, "/suts", {"kind": kind, "is_enabled": is_enabled})

    def sut(self, slug: str) -> Sut:
        """Return one system."""
        return self._one(Sut, "GET", f"/suts/{part(slug)}")

    def register_sut(
        self,
        slug: str,
        *,
        kind: str = "",
        preset: str = "",
        params: Values | None = None,
        name: str = "",
        description: str = "",
        queue: str = "cpu",
        api_key: int | str | None = None,
        secret: str = "",
    ) -> Sut:
        """Register a system by its kind, or by a preset with changes.

        Args:
            slug: short name, for addresses.
            kind: one of ``kinds()``; may be left out with a preset.
            preset: name of one of ``presets()``.
            params: settings of the kind, over those of the preset.
            name: for people; empty: the slug.
            description: for people.
            queue: ``cpu`` or ``gpu``, for checkpoints.
            api_key: id or name of a stored key.
            secret: a new key to store under the slug; the lab never gives it back.

        Raises:
            LabError: a value is refused; ``field`` names it.
        """
        body: dict[str, Any] = {
            "slug": slug,
            "kind": kind,
            "preset": preset,
            "params": dict(params or {}),
            "name": name,
        }
        body |= {"description": description, "queue": queue, "api_key": api_key, "secret": secret}
        return self._one(Sut, "POST", "/suts", json=body)

    def change_sut(self, slug: str, **changes: Any) -> Sut:
        """Change a system: ``name``, ``params`` (only those to change), ``description``, ``queue``, keys."""
        return self._one(Sut, "PATCH", f"/suts/{part(slug)}", json=changes)

    def enable_sut(self, slug: str) -> Sut:
        """Switch a system on."""
        return self._one(Sut, "POST", f"/suts/{part(slug)}/enable")

    def disable_sut(self, slug: str) -> Sut:
        """Switch a system off."""
        return self._one(Sut, "POST", f"/suts/{part(slug)}/disable")

    def calibrate_sut(self, slug: str) -> Job:
        """Start the calibration of a system; ``wait_for_job`` returns it when it has ended."""
        return self._one(Job, "POST", f"/suts/{part(slug)}/calibrate")

    def try_sut(
        self,
        slug: str,
        picture: bytes | str | Path | None = None,
        prompt: str = "",
        *,
        scene: str = "",
        question: str = "",
    ) -> Job:
        """Ask a system about one picture; ``wait_for_job`` returns the answer.

        Args:
            slug: short name of the system.
            picture: a file, or its bytes (PNG, JPEG, WebP).
            prompt: own words; empty: the question of the domain.
            scene: id of the job that drew a scene, instead of a picture.
            question: which question a picture is asked without a prompt: the short name of a domain, or
                ``domain:rule``; empty: the driving question.
        """
        content = picture if isinstance(picture, bytes | None) else Path(picture).read_bytes()
        files = {"picture": ("picture", content)} if content is not None else None
        asked = (("prompt", prompt), ("scene", scene), ("question", question))
        words = {name: value for name, value in asked if value}
        return self._one(Job, "POST", f"/suts/{part(slug)}/try", data=words, files=files)

    def draw_scene(self, concepts: Sequence[str], *, seed: int = 0, domain: str = "driving") -> Job:
        """Start drawing a scene; the id of the job can be given to ``try_sut`` when it is done."""
        body = {"concepts": list(concepts), "seed": seed}
        return self._one(Job, "POST", f"/domains/{part(domain)}/scenes", json=body)

    def job(self, job: Job | str) -> Job:
        """Return a job as it is now."""
        return self._one(Job, "GET", f"/jobs/{part(job.id if isinstance(job, Job) else job)}")

    def start_search(
        self,
        *,
        suts: Sequence[str],
        domain: str = "driving",
        config: Values | None = None,
        preset: str = "",
        seed: int = 0,
        name: str = "",
        request_key: str = "",
    ) -> Campaign:
        """Start a search: one run for each system.

        Args:
            suts: short names.
            domain: where to search.
            config: settings that differ from the defaults, or from the preset.
            preset: such as ``quick_look``.
            seed: same seed and settings, same search.
            name: empty: it says what is searched.
            request_key: the same key and the same search again return the first campaign, also after a broken
                connection; empty: a fresh one.
        """
        body: dict[str, Any] = {
            "suts": list(suts),
            "domain": domain,
            "config": dict(config or {}),
            "seed": seed,
        }
        body |= {"preset": preset, "name": name}
        headers = {"Idempotency-Key": request_key or str(uuid.uuid4())}
        return self._one(Campaign, "POST", "/campaigns", json=body, headers=headers)

    def campaigns(self, *, name: str = "") -> list[Campaign]:
        """Return the campaigns, newest first, without their runs."""
        return self._all(Campaign, "/campaigns", {"name": name})

    def campaign(self, campaign_id: int) -> Campaign:
        """Return a campaign with its runs."""
        return self._one(Campaign, "GET", f"/campaigns/{int(campaign_id)}")

    def runs(self, *, sut: str = "", state: str = "", campaign: int | None = None) -> list[Run]:
        """Return the runs, newest first."""
        return self._all(Run, "/runs", {"sut": sut, "state": state, "campaign": campaign})

    def run(self, run: Run | int) -> Run:
        """Return a run as it is now."""
        return self._one(Run, "GET", f"/runs/{_number(run)}")

    def cancel(self, run: Run | int) -> Run:
        """End a run; what it found is kept."""
        return self._one(Run, "POST", f"/runs/{_number(run)}/cancel")

    def pause(self, run: Run | int) -> Run:
        """Pause a run."""
        return self._one(Run, "POST", f"/runs/{_number(run)}/pause")

    def resume(self, run: Run | int) -> Run:
        """Go on with a paused, failed or ended run where it was."""
        return self._one(Run, "POST", f"/runs/{_number(run)}/resume")

    def retry_call_errors(self, run: Run | int) -> Run:
        """Ask only the failed calls of a run again."""
        return self._one(Run, "POST", f"/runs/{_number(run)}/retry-call-errors")

    def raise_limit(self, run: Run | int, spend_cap_usd: float | None) -> Run:
        """Give a run that its spending limit halted a new one; None takes the limit away."""
        body = {"spend_cap_usd": spend_cap_usd}
        return self._one(Run, "POST", f"/runs/{_number(run)}/raise-limit", json=body)

    def wait(
        self,
        run: Run | int,
        *,
        poll: float = 2.0,
        timeout: float | None = None,
        on_progress: Callable[[Run], None] | None = None,
    ) -> Run:
        """Return a run once it rests: finished, failed, ended, or paused until somebody resumes it.

        Args:
            run: the run, or its id.
            poll: seconds between two looks.
            timeout: seconds after which to stop waiting; the run itself goes on.
            on_progress: called with the run whenever it has changed.

        Raises:
            LabTimeout: it did not rest in time.
        """
        last: tuple[Any, ...] | None = None
        for now in self._until(timeout, poll, lambda: self.run(run), f"run {_number(run)}"):
            mark = (now.state, now.stage, now.progress, now.spending)
            if on_progress is not None and mark != last:
                on_progress(now)
            last = mark
            if now.state in RESTING:
                return now
        raise AssertionError("unreachable")

    def wait_for_job(self, job: Job | str, *, poll: float = 0.5, timeout: float | None = 120.0) -> Job:
        """Return a job once it has ended, well or badly.

        Raises:
            LabTimeout: it did not end in time.
        """
        for now in self._until(timeout, poll, lambda: self.job(job), "the job"):
            if now.is_ended:
                return now
        raise AssertionError("unreachable")

    def findings(
        self, *, run: Run | int | None = None, sut: str = "", state: str = "", minimal: bool | None = None
    ) -> list[Finding]:
        """Return findings, newest first: of one run, of one system, of one state, or all."""
        number = None if run is None else _number(run)
        return self._all(
            Finding, "/findings", {"run": number, "sut": sut, "state": state, "is_minimal": minimal}
        )

    def finding(self, finding_id: int) -> Finding:
        """Return one finding."""
        return self._one(Finding, "GET", f"/findings/{int(finding_id)}")

    def sets(self, run: Run | int) -> Iterator[dict[str, Any]]:
        """Yield the concept sets of a run, a page at a time."""
        yield from self._lab.pages(f"/runs/{_number(run)}/sets", {})

    def samples(self, run: Run | int, *, verdict: str = "") -> Iterator[dict[str, Any]]:
        """Yield the samples of a run, a page at a time."""
        yield from self._lab.pages(f"/runs/{_number(run)}/samples", {"verdict": verdict})

    def export(
        self, run: Run | int, fmt: Literal["json", "csv"], path: str | Path, *, what: str = ""
    ) -> Path:
        """Download a run into a file that appears whole or not at all.

        Args:
            run: the run, or its id.
            fmt: ``json`` or ``csv``.
            path: the file; one that exists is replaced.
            what: ``run`` (all of it, JSON only), ``sets``, ``samples`` or ``findings``; empty: ``run`` as
                JSON, ``findings`` as CSV.
        """
        chosen = what or ("run" if fmt == "json" else "findings")
        return self._lab.download(f"/runs/{_number(run)}/export/{part(chosen)}.{part(fmt)}", Path(path))


def _number(run: Run | int) -> int:
    return run.id if isinstance(run, Run) else int(run)
