"""A package for the maker of a system: what was confirmed, with pictures, prompts, answers and method."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Count
from django.utils import timezone

from searches.enums import CaseKind, FindingState
from searches.models import Finding, FollowUpItem, ModalityCase, Note, Sample, SutRecord
from searches.services.blobs import blob_path
from searches.services.disclosure_readme import readme
from searches.services.domain_store import find_domain
from searches.services.exports import csv_lines
from vlmlab import __version__
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.web.evidence import set_words
from vlmlab.web.secrets_seen import without_secrets
from vlmlab.web.zip_streams import PIECE_BYTES, zip_pieces

FORMAT = "vlmlab-disclosure-1"
MOST_SCENES = 40
MOST_CONTACT = 2_000
FINDING_COLUMNS = (
    "finding", "concepts", "words", "state", "expected", "answered", "direction", "fresh_fails", "fresh_n",
    "fresh_invalid", "low", "high", "level", "family_size", "domain",
)  # fmt: skip
PUBLIC_PARAMS = ("model", "api_version", "temperature", "max_tokens", "max_new_tokens", "revision")
"""Settings of a registration that tell its maker what was asked, and nothing of this lab."""


@dataclass(frozen=True)
class DisclosureWish:
    """What goes into a package.

    Attributes:
        states: findings and cases of these states.
        pictures: whether the scenes and perturbed pictures go in.
        notes: whether what people wrote beside findings goes in; ``names`` also says who.
        contact: whom the receiver may write to.
    """

    states: tuple[str, ...] = (FindingState.CONFIRMED,)
    pictures: bool = True
    notes: bool = False
    names: bool = False
    contact: str = ""


@dataclass(frozen=True)
class DisclosureOffer:
    """How many findings and cases a system has by state, and how many a wish takes."""

    by_state: Sequence[tuple[str, str, int, int]]
    findings: int
    cases: int

    @property
    def is_empty(self) -> bool:
        """Whether the package would hold nothing."""
        return not (self.findings or self.cases)


def disclosure_offer(sut: SutRecord, wish: DisclosureWish) -> DisclosureOffer:
    """Return what there is of a system and what a wish takes (two queries)."""
    findings = _counts(Finding.objects.filter(sut=sut))
    cases = _counts(_all_cases(sut))
    rows = [
        (state.value, str(state.label), findings.get(state, 0), cases.get(state, 0)) for state in FindingState
    ]
    chosen = set(wish.states)
    return DisclosureOffer(
        rows,
        sum(one for state, _, one, _ in rows if state in chosen),
        sum(one for state, _, _, one in rows if state in chosen),
    )


def disclosure_zip(sut: SutRecord, wish: DisclosureWish) -> Iterator[bytes]:
    """Return the package as a ZIP, piece by piece.

    It names no person unless the wish says so, no address and no key of this lab, and no setting of the
    registration but those that tell the maker what was asked.

    Raises:
        VlmLabError: nothing has one of the states.
    """
    findings = list(
        Finding.objects.filter(sut=sut, state__in=wish.states)
        .select_related("run__campaign", "trial", "sut")
        .order_by("-fresh_low", "pk")
    )
    cases = list(_all_cases(sut).filter(state__in=wish.states).order_by("pk"))
    if not (findings or cases):
        raise VlmLabError(
            "Nothing of this system has one of these states.",
            hint="Choose another state, or confirm what is suspected first.",
            field="states",
        )
    return zip_pieces(_members(sut, wish, findings, cases))


def _members(
    sut: SutRecord, wish: DisclosureWish, findings: Sequence[Finding], cases: Sequence[ModalityCase]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    text = readme(
        sut,
        findings=len(findings),
        cases=len(cases),
        states=wish.states,
        contact=wish.contact,
        has_pictures=wish.pictures,
    )
    yield "README.txt", [without_secrets(text).encode()]
    yield "about.json", [_json(_about(sut, wish, findings, cases))]
    yield "findings.csv", [_findings_csv(findings)]
    pictures: dict[str, None] = {}
    for finding in findings:
        content, shown = _finding(finding, wish)
        pictures |= dict.fromkeys(shown)
        yield f"findings/{finding.pk}.json", [_json(content)]
    for case in cases:
        shown = [case.image_sha256, case.modality_run.picture.image_sha256]
        pictures |= dict.fromkeys(filter(None, shown))
        yield f"cases/{case.pk}.json", [_json(_case(case, wish))]
    for domain_ref in sorted({finding.domain_ref for finding in findings}):
        yield f"domains/{domain_ref.replace('@', '-')}.json", [_json(_domain(domain_ref))]
    if wish.pictures:
        for sha256 in pictures:
            path = blob_path(sha256)
            if path.is_file():
                yield f"pictures/{sha256}.png", _pieces(path)


def _about(
    sut: SutRecord, wish: DisclosureWish, findings: Sequence[Finding], cases: Sequence[ModalityCase]
) -> dict[str, Any]:
    runs = {finding.run_id: finding.run for finding in findings}
    return {
        "format": FORMAT,
        "written": timezone.now().isoformat(timespec="seconds"),
        "written_by": f"VLM Lab {__version__}",
        "reader_version": READER_VERSION,
        "system": {
            "name": sut.name,
            "kind": sut.kind,
            "fingerprint": sut.fingerprint,
            "settings": {name: sut.params[name] for name in PUBLIC_PARAMS if name in sut.params},
        },
        "contact": wish.contact,
        "states": list(wish.states),
        "findings": [finding.pk for finding in findings],
        "cases": [case.pk for case in cases],
        "searches": [
            {
                "run": run.pk,
                "run_seed": run.run_seed,
                "domain": run.campaign.domain_ref,
                "config": run.campaign.config,
                "fingerprint": run.checkpoint.get("fingerprint") or sut.fingerprint,
                "pictures": run.checkpoint.get("pictures", ""),
                "answers": run.n_observations,
                "started": run.started_at.isoformat(timespec="seconds") if run.started_at else None,
            }
            for run in runs.values()
        ],
    }


def _finding(finding: Finding, wish: DisclosureWish) -> tuple[dict[str, Any], list[str]]:
    """Return a finding with its newest scenes, fresh ones first, and the pictures that they show."""
    items = FollowUpItem.objects.filter(finding=finding, run__sut_id=finding.sut_id)
    places = list(items.select_related("campaign").order_by("-pk"))
    rows = [*_fresh_samples(places), *finding.trial.samples.order_by("number")][:MOST_SCENES]
    content = {
        **dict(zip(FINDING_COLUMNS, _finding_row(finding), strict=True)),
        "rule": finding.rule_id,
        "found_with": {
            "fails": finding.fails, "n": finding.n, "stopped_early": finding.is_curtailed,
            "note": "biased upwards: the search keeps what failed",
        },
        "smallest_set": finding.minimality or "not tested",
        "necessity": finding.necessity,
        "follow_ups": [
            {"kind": one.campaign.kind, "config": one.campaign.config, "state": one.state,
             "fails": one.fails, "n": one.n, "numbers": one.numbers}
            for one in places
        ],
        "scenes": [_scene(sample) for sample in rows],
    }  # fmt: skip
    if wish.notes:
        content["notes"] = _notes(Note.objects.filter(finding=finding), wish)
    return content, [sample.image_sha256 for sample in rows if sample.image_sha256]


def _fresh_samples(items: Sequence[FollowUpItem]) -> list[Sample]:
    found: list[Sample] = []
    for item in items:
        if item.campaign.kind == "confirm":
            rows = Sample.objects.filter(run_id=item.run_id, trial__block=item.block, trial__key=item.key)
            found += rows.order_by("number")[:MOST_SCENES]
    return found


def _scene(sample: Sample) -> dict[str, Any]:
    return {
        "picture": f"pictures/{sample.image_sha256}.png" if sample.image_sha256 else None,
        "scene_seed": sample.scene_seed,
        "prompt": sample.prompt,
        "options": sample.actions,
        "expected_letter": sample.expected_letter,
        "expected": sample.expected_action,
        "answer": sample.raw_text,
        "letter": sample.letter,
        "answered": sample.answered_action,
        "answer_status": sample.answer_status,
        "verdict": sample.verdict,
        "served_model": sample.served_model,
        "asked": sample.created_at.isoformat(timespec="seconds"),
        "error": sample.error,
    }


def _case(case: ModalityCase, wish: DisclosureWish) -> dict[str, Any]:
    run, clean = case.modality_run, case.modality_run.clean_answer
    content: dict[str, Any] = {
        "case": case.pk,
        "state": case.state,
        "label": run.label,
        "regime": run.regime,
        "seed_picture": f"pictures/{run.picture.image_sha256}.png",
        "picture": f"pictures/{case.image_sha256}.png",
        "severities": case.severities,
        "generator": case.generator,
        "prompt": case.prompt,
        "answer": case.raw_text,
        "status": case.status,
        "iou": case.iou,
        "truth": case.truth,
        "boxes": case.boxes,
        "clean_prompt": clean.prompt if clean else "",
        "clean_answer": clean.raw_text if clean else "",
        "clean_iou": clean.iou if clean else None,
        "fresh_fails": case.fresh_fails,
        "fresh_n": case.fresh_n,
    }
    return content | ({"notes": _notes(Note.objects.filter(case=case), wish)} if wish.notes else {})


def _notes(rows: Any, wish: DisclosureWish) -> list[dict[str, str]]:
    found = []
    for note in rows.select_related("author").order_by("pk"):
        said = {"text": note.text}
        found.append(said | ({"author": str(note.author)} if wish.names and note.author else {}))
    return found


def _domain(domain_ref: str) -> dict[str, Any]:
    domain = find_domain(domain_ref)
    return {
        "domain": domain.ref,
        "title": domain.title,
        "answers": domain.actions,
        "concepts": [{"id": one.id, "label": one.label} for one in domain.concepts],
    }


def _finding_row(finding: Finding) -> tuple[Any, ...]:
    return (
        finding.pk, finding.key, set_words(finding.concepts, finding.domain_ref), finding.state,
        finding.expected_action, finding.answered_action, finding.direction, finding.fresh_fails,
        finding.fresh_n, finding.fresh_invalid, finding.fresh_low, finding.fresh_high, finding.fresh_level,
        finding.family_size, finding.domain_ref,
    )  # fmt: skip


def _findings_csv(findings: Sequence[Finding]) -> bytes:
    return without_secrets("".join(csv_lines(FINDING_COLUMNS, map(_finding_row, findings)))).encode()


def _json(content: Any) -> bytes:
    text = json.dumps(content, ensure_ascii=False, indent=1, default=str) + "\n"
    return without_secrets(text, written_as=lambda secret: json.dumps(secret)[1:-1]).encode()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def _all_cases(sut: SutRecord) -> Any:
    rows = ModalityCase.objects.filter(modality_run__sut=sut, is_failure=True, kind=CaseKind.RETURNED)
    return rows.select_related("modality_run__picture", "modality_run__clean_answer", "modality_run__run")


def _counts(rows: Any) -> dict[str, int]:
    return dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
