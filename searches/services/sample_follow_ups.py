"""Follow-ups of the sample run as sample data, so that confirmed findings stand there on the first day."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.db.models.functions import Now

from searches.enums import CONCEPT_METHOD, FINAL_STATES, FindingState, Verdict
from searches.models import (
    Campaign,
    Finding,
    FollowUpItem,
    RunEvent,
    Sample,
    SearchRun,
    SutRecord,
    Trial,
)
from searches.models.settled import Settled
from searches.services.blobs import blob_path, digest_of, store_blob
from searches.services.follow_up_families import campaigns_below
from searches.services.sample_data import FOLDER
from searches.services.sample_rows import columns_of, dated
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_many

FOLLOW_UP_FOLDER = FOLDER / "follow_ups"
FIXTURE = "follow_ups.json.gz"
PICTURES = "pictures"
FORMAT = 1
WRITTEN_AT_ONCE = 500
LEFT_OUT = frozenset(
    {
        "id", "run", "trial", "sut", "campaign", "created_by", "cloned_from", "owner", "created_at",
        "follows", "dataset", "experiment", "finding", "case", "member", "covered_by", "request_key",
        "lease_expires", "dispatched_at",
    }
)  # fmt: skip
SETTLED = frozenset(field.name for field in Settled._meta.get_fields()) | {"minimality", "necessity"}
"""What follow-ups write into the findings of the search."""


def dump_follow_ups(run: SearchRun, *, folder: Path, pictures: int) -> Path:
    """Write the follow-ups of the sample run: one packed file, and a wrong fresh scene of each finding.

    Args:
        run: a search whose follow-ups, and theirs, have all ended.
        folder: where ``follow_ups.json.gz`` and ``pictures/`` go.
        pictures: how many pictures to ship at most; the others are drawn again when they are shown.

    Raises:
        VlmLabError: there is none, or one has not ended.
    """
    root = run.campaign
    numbers = [pk for pk in campaigns_below(root) if pk != root.pk]
    campaigns = list(Campaign.objects.filter(pk__in=numbers).order_by("pk"))
    if not campaigns:
        raise VlmLabError("This run has no follow-ups.", hint="Confirm its findings first.")
    if SearchRun.objects.filter(campaign__in=numbers).exclude(state__in=FINAL_STATES).exists():
        raise VlmLabError("A follow-up has not ended.", hint="Wait until all have.")
    shown = _dump_pictures(campaigns, folder / PICTURES, pictures)
    content = _content(run, campaigns)
    new = [row for one in content["campaigns"] for part in one["runs"] for row in part["findings"]]
    for one in new:  # a page shows these without asking whether they are kept
        one["thumbnails"] = [sha256 for sha256 in one.get("thumbnails", []) if sha256 in shown]
    text = json.dumps(content, default=str, ensure_ascii=False, separators=(",", ":"))
    path = folder / FIXTURE
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def load_follow_ups(folder: Path = FOLLOW_UP_FOLDER) -> str:
    """Make the rows of the follow-ups of the sample run, where nobody has followed it up yet.

    Returns:
        One sentence, "" where none are shipped or the sample run is not here.
    """
    path = folder / FIXTURE
    root = Campaign.objects.filter(is_sample=True, method=CONCEPT_METHOD).order_by("pk").first()
    run = root.runs.select_related("sut").order_by("pk").first() if root else None
    if root is None or run is None or not path.exists():
        return ""
    if root.follow_ups.exists():
        return "The sample run has been followed up already."
    content = json.loads(gzip.decompress(path.read_bytes()))
    suts = {row.slug: row for row in SutRecord.objects.filter(slug__in=content["suts"], is_sample=True)}
    findings = list(run.findings.order_by("id"))
    is_known = content.get("format") == FORMAT and [one.key for one in findings] == content["keys"]
    if not is_known or len(suts) < len(content["suts"]):
        return "The follow-ups of the sample run are left out: they belong to another version of it."
    if any(one.state != FindingState.SUSPECTED for one in findings):
        return "The sample run has been followed up already."
    n_answers = _load(content, root=root, findings=findings, suts=suts)
    for picture in sorted((folder / PICTURES).glob("*.png")):
        png = picture.read_bytes()
        if digest_of(png) == picture.stem:
            store_blob(png)
    followed = write_many(len(content["campaigns"]), "follow-up")
    return f"Sample follow-ups loaded: {followed} with {write_many(n_answers, 'answer')}."


def _content(run: SearchRun, campaigns: Sequence[Campaign]) -> dict[str, Any]:
    findings = list(run.findings.order_by("id"))
    more = list(Finding.objects.filter(run__campaign__in=campaigns).order_by("id"))
    places = {one.pk: place for place, one in enumerate([*findings, *more])}
    numbers = {one.pk: place for place, one in enumerate(campaigns)}
    runs = SearchRun.objects.filter(campaign__in=campaigns).select_related("sut")
    return {
        "format": FORMAT,
        "keys": [one.key for one in findings],
        "suts": sorted({one.sut.slug for one in runs}),
        "settled": [
            {name: value for name, value in _changed(one).items() if name in SETTLED}
            | {"covered_by": places.get(one.covered_by_id or 0)}
            for one in findings
        ],
        "campaigns": [
            _changed(one)
            | {"is_sample": True, "follows": numbers.get(one.follows_id or 0), "runs": _runs(one, places)}
            for one in campaigns
        ],
    }


def _runs(campaign: Campaign, findings: Mapping[int, int]) -> list[dict[str, Any]]:
    found = []
    for run in campaign.runs.select_related("sut").order_by("id"):
        trials = list(run.trials.order_by("order"))
        places = {trial.pk: place for place, trial in enumerate(trials)}
        found.append(
            {
                "sut": run.sut.slug,
                "row": _changed(run),
                "trials": [_changed(trial) for trial in trials],
                "samples": [
                    _changed(one) | {"trial": places[one.trial_id]}
                    for one in run.samples.order_by("step", "position")
                ],
                "items": [
                    _changed(one) | {"finding": findings.get(one.finding_id or 0)}
                    for one in run.items.order_by("order")
                ],
                "findings": [
                    _changed(one)
                    | {"trial": places[one.trial_id], "covered_by": findings.get(one.covered_by_id or 0)}
                    for one in run.findings.order_by("id")
                ],
                "events": [_changed(one) for one in run.events.order_by("id")],
            }
        )
    return found


def _changed(row: models.Model) -> dict[str, Any]:
    """Return the columns of a row that are not as they are by default."""
    defaults = {field.name: field.get_default() for field in row._meta.concrete_fields}
    values = columns_of(row, left_out=LEFT_OUT)
    return {name: value for name, value in values.items() if value != defaults[name]}


@transaction.atomic
def _load(
    content: dict[str, Any], *, root: Campaign, findings: list[Finding], suts: Mapping[str, SutRecord]
) -> int:
    campaigns: list[Campaign] = []
    runs: list[tuple[SearchRun, list[Trial], dict[str, Any]]] = []
    for one in content["campaigns"]:
        values = {name: value for name, value in one.items() if name not in ("runs", "follows")}
        follows = root if one["follows"] is None else campaigns[one["follows"]]
        campaigns.append(Campaign.objects.create(follows=follows, **dated(Campaign, values)))
        runs += [_load_run(campaigns[-1], suts, row) for row in one["runs"]]
    known = [*findings]
    for run, trials, row in runs:
        new = [
            Finding(run=run, sut=run.sut, **_without(one, "trial", "covered_by"), trial=trials[one["trial"]])
            for one in row["findings"]
        ]
        known += Finding.objects.bulk_create(new)
    covers = [*content["settled"], *(one for _, _, row in runs for one in row["findings"])]
    for finding, values in zip(known, covers, strict=True):
        for name in SETTLED & set(values):
            setattr(finding, name, dated(Finding, values)[name])
        if values["covered_by"] is not None:
            finding.covered_by = known[values["covered_by"]]
        finding.save()
    _load_items(runs, known)
    SearchRun.objects.filter(campaign__in=campaigns).update(finished_at=Now())
    return sum(len(row["samples"]) for _, _, row in runs)


def _load_run(
    campaign: Campaign, suts: Mapping[str, SutRecord], row: dict[str, Any]
) -> tuple[SearchRun, list[Trial], dict[str, Any]]:
    run = SearchRun.objects.create(campaign=campaign, sut=suts[row["sut"]], **dated(SearchRun, row["row"]))
    trials = Trial.objects.bulk_create(Trial(run=run, **one) for one in row["trials"])
    samples = [
        Sample(run=run, trial=trials[one["trial"]], **_without(one, "trial")) for one in row["samples"]
    ]
    Sample.objects.bulk_create(samples, batch_size=WRITTEN_AT_ONCE)
    RunEvent.objects.bulk_create(RunEvent(run=run, **dated(RunEvent, one)) for one in row["events"])
    return run, trials, row


def _load_items(
    runs: Iterable[tuple[SearchRun, list[Trial], dict[str, Any]]], known: Sequence[Finding]
) -> None:
    items = [
        FollowUpItem(
            campaign=run.campaign,
            run=run,
            finding=None if one["finding"] is None else known[one["finding"]],
            **_without(one, "finding"),
        )
        for run, _, row in runs
        for one in row["items"]
    ]
    FollowUpItem.objects.bulk_create(items)


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _dump_pictures(campaigns: Sequence[Campaign], folder: Path, limit: int) -> set[str]:
    """Write pictures of new findings, then the first wrong scene of each set; return their digests."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    new = Finding.objects.filter(run__campaign__in=campaigns).order_by("id")
    wanted = [sha256 for shas in new.values_list("thumbnails", flat=True) for sha256 in shas[:1]]
    wrong = Sample.objects.filter(run__campaign__in=campaigns, verdict=Verdict.FAIL).exclude(image_sha256="")
    first: dict[int, str] = {}
    for trial_id, sha256 in wrong.order_by("run_id", "number", "id").values_list("trial_id", "image_sha256"):
        first.setdefault(trial_id, sha256)
    kept = [one for one in dict.fromkeys([*wanted, *first.values()]) if blob_path(one).exists()][:limit]
    for sha256 in kept:
        (folder / f"{sha256}.png").write_bytes(blob_path(sha256).read_bytes())
    return set(kept)
