"""Regression families: failure modes and test cases are pinned, so that later systems are tried on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max

from searches.enums import FamilyKind, FindingState
from searches.models import FamilyMember, Finding, ModalityCase, RegressionFamily, SutRecord, User
from searches.services.audit import record
from searches.services.gate_names import checked_name, free_slug
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import VlmLabError
from vlmlab.core.verdicts.config import RegressConfig

MOST_MEMBERS = 200
RESERVED = frozenset({"new", "pin", "regressions", "canaries"})
COPIED = ("failure_rate_threshold", "image_width", "image_height", "backend", "ask_reason")
PLANNED = ("scenes", "level", "margin", "goal")
PICTURES = ("image_width", "image_height", "backend")


@dataclass(frozen=True)
class FamilyWish:
    """What a form or a program says of a family.

    Attributes:
        scenes, level, margin, goal: see ``RegressConfig``.
        baseline: the system that candidates are compared with unless another is chosen.
    """

    name: str
    baseline: SutRecord | None
    scenes: int = 40
    level: float = 0.05
    margin: float = 0.1
    goal: str = "no_worse"


@dataclass(frozen=True)
class Pins:
    """What somebody chose to pin: findings or cases, with what should be known about them.

    Attributes:
        warnings: sentences; they forbid nothing.
    """

    findings: tuple[Finding, ...] = ()
    cases: tuple[ModalityCase, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    @property
    def kind(self) -> FamilyKind:
        """The kind of family that they fit into."""
        return FamilyKind.CASES if self.cases else FamilyKind.CONCEPTS

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.findings) + len(self.cases)

    @property
    def sut(self) -> SutRecord | None:
        """The system of the first one."""
        if self.findings:
            return self.findings[0].sut
        return self.cases[0].modality_run.run.sut if self.cases else None


def read_pins(*, findings: Sequence[int] = (), cases: Sequence[int] = ()) -> Pins:
    """Return the findings and cases of these numbers.

    Raises:
        VlmLabError: none is chosen, one is gone, or they do not fit together in one family.
    """
    if not findings and not cases:
        raise VlmLabError("Nothing is chosen.", hint="Choose at least one failure mode or test case.")
    if findings and cases:
        raise VlmLabError(
            "A family holds failure modes or test cases, not both.", hint="Make a family of each."
        )
    if len(findings) + len(cases) > MOST_MEMBERS:
        raise VlmLabError(f"A family holds at most {MOST_MEMBERS}.", hint="Choose fewer.")
    found = list(
        Finding.objects.filter(pk__in=findings).select_related("sut", "run__campaign").order_by("pk")
    )
    asked = list(
        ModalityCase.objects.filter(pk__in=cases)
        .select_related("modality_run__run__sut", "modality_run__run__campaign")
        .order_by("pk")
    )
    if len(found) + len(asked) < len(set(findings)) + len(set(cases)):
        raise VlmLabError("Some of what you chose is gone.", hint="Go back and choose again.")
    _check_alike([(one.domain_ref, one.run.campaign.config) for one in found])
    return Pins(tuple(found), tuple(asked), tuple(_warnings([*found, *asked])))


@transaction.atomic
def create_family(wish: FamilyWish, pins: Pins, *, by: User | None) -> RegressionFamily:
    """Store a family with its first members.

    Raises:
        VlmLabError: the name or a number is refused.
    """
    first = pins.findings[0] if pins.findings else None
    copied = _copied(first.run.campaign.config) if first else {}
    family = RegressionFamily(
        name=checked_name(wish.name),
        kind=pins.kind,
        domain=first.domain if first else "",
        domain_version=first.domain_version if first else "",
        baseline=wish.baseline,
        config=_settings(copied, wish),
        created_by=by,
    )
    family.slug = free_slug(family.name, rows=RegressionFamily.objects.all(), reserved=RESERVED)
    family.save()
    _add(family, pins)
    record(by, "made", family, after={"members": pins.count, "config": family.config})
    return family


@transaction.atomic
def pin_to(family: RegressionFamily, pins: Pins, *, by: User | None) -> int:
    """Add members to a family and return how many are new; what it has already is passed over.

    Raises:
        VlmLabError: they do not fit, the family is archived or full.
    """
    if family.is_archived:
        raise VlmLabError(f"“{family.name}” is archived.", hint="Bring it back first.", field="family")
    if family.kind != pins.kind:
        raise VlmLabError(
            f"“{family.name}” holds {family.get_kind_display().lower()}.",
            hint="Choose another family or make a new one.",
            field="family",
        )
    for finding in pins.findings:
        if finding.domain_ref != f"{family.domain}@{family.domain_version}":
            raise VlmLabError(
                f"“{family.name}” holds sets of {family.domain} in version {family.domain_version}; "
                f"finding {finding.pk} is of {finding.domain_ref}.",
                hint="All members are drawn and judged by one version of a domain: make a new family.",
                field="family",
            )
        if _pictures(finding.run.campaign.config) != _pictures(family.config):
            raise VlmLabError(
                f"“{family.name}” is drawn with {_picture_words(family.config)}; finding {finding.pk} with "
                f"{_picture_words(finding.run.campaign.config)}.",
                hint="Members of one family are shown in the same kind of picture: make a new family.",
                field="family",
            )
    added = _add(family, pins)
    record(by, "pinned to", family, after={"added": added})
    return added


@transaction.atomic
def edit_family(family: RegressionFamily, wish: FamilyWish, *, by: User | None) -> None:
    """Change name, baseline, scenes, level and margin; regressions that ran keep theirs.

    Raises:
        VlmLabError: the name or a number is refused.
    """
    before = {"name": family.name, "config": family.config}
    family.name, family.baseline = checked_name(wish.name), wish.baseline
    family.config = _settings(_copied(family.config), wish)
    family.save(update_fields=["name", "baseline", "config"])
    record(by, "changed", family, before=before, after={"name": family.name, "config": family.config})


@transaction.atomic
def unpin(family: RegressionFamily, member_id: int, *, by: User | None) -> None:
    """Take a member out; what was measured on it stays.

    Raises:
        VlmLabError: the family has no such member, or it is the last one.
    """
    member = family.members.filter(pk=member_id).first()
    if member is None:
        raise VlmLabError("This member is gone already.", hint="Reload the page.")
    if family.members.count() == 1:
        raise VlmLabError("It is the last member.", hint="Archive the family instead.")
    record(by, "unpinned from", family, before={"member": str(member)})
    member.delete()


@transaction.atomic
def archive_family(family: RegressionFamily, *, is_archived: bool, by: User | None) -> None:
    """Take a family out of use with its canaries, or bring it back (its canaries stay off)."""
    family.is_archived = is_archived
    family.save(update_fields=["is_archived"])
    if is_archived:
        family.canaries.update(is_on=False)
    record(by, "archived" if is_archived else "brought back", family)


def settings_of(family: RegressionFamily, *, scenes: int | None = None) -> RegressConfig:
    """Return the stored settings, with another number of scenes where one is said.

    Raises:
        VlmLabError: the number is out of range.
    """
    return checked_settings(
        RegressConfig, dict(family.config) | ({} if scenes is None else {"scenes": scenes})
    )


def _settings(copied: Mapping[str, Any], wish: FamilyWish) -> dict[str, Any]:
    values = dict(copied) | {name: getattr(wish, name) for name in PLANNED}
    return checked_settings(RegressConfig, values).model_dump(mode="json")


def _copied(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what pictures and questions of a search depend on."""
    return {name: config[name] for name in COPIED if name in config}


def _pictures(config: Mapping[str, Any]) -> tuple[Any, ...]:
    defaults = RegressConfig().model_dump()
    return tuple(config.get(name, defaults[name]) for name in PICTURES)


def _picture_words(config: Mapping[str, Any]) -> str:
    width, height, backend = _pictures(config)
    return f"{backend}, {width} × {height} pixels"


def _check_alike(origins: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    rows = list(origins)
    refs = sorted({ref for ref, _ in rows})
    if len(refs) > 1:
        raise VlmLabError(
            f"They are of several domains or versions: {', '.join(refs)}.",
            hint="All members are drawn and judged by one version of a domain: make a family of each.",
        )
    pictures = sorted({_picture_words(config) for _, config in rows})
    if len(pictures) > 1:
        raise VlmLabError(
            f"They were found in different pictures: {'; '.join(pictures)}.",
            hint="Members of one family are shown in the same kind of picture: make a family of each.",
        )


def _warnings(rows: Sequence[Finding | ModalityCase]) -> list[str]:
    unsure = [row for row in rows if row.state != FindingState.CONFIRMED]
    if not unsure:
        return []
    counts = {label: sum(row.state == value for row in unsure) for value, label in FindingState.choices}
    words = ", ".join(f"{count} {label.lower()}" for label, count in counts.items() if count)
    return [
        f"{len(unsure)} of {len(rows)} {'is' if len(unsure) == 1 else 'are'} not confirmed ({words}). A mode "
        "that the baseline does not really fail on can be neither fixed nor still failing: confirm it first."
    ]


def _add(family: RegressionFamily, pins: Pins) -> int:
    has_keys = set(family.members.exclude(key="").values_list("key", flat=True))
    has_cases = set(family.members.exclude(case=None).values_list("case_id", flat=True))
    last = family.members.aggregate(last=Max("order"))["last"]
    new: list[FamilyMember] = []
    for finding in pins.findings:
        if finding.key not in has_keys:
            has_keys.add(finding.key)
            new.append(
                FamilyMember(
                    finding=finding,
                    key=finding.key,
                    concepts=finding.concepts,
                    expected_action=finding.expected_action,
                    pinned_rate=_fresh_rate(finding),
                )
            )
    new += [
        FamilyMember(case=case, pinned_rate=_fresh_rate(case))
        for case in pins.cases
        if case.pk not in has_cases
    ]
    start = 0 if last is None else last + 1
    if family.members.count() + len(new) > MOST_MEMBERS:
        raise VlmLabError(f"A family holds at most {MOST_MEMBERS}.", hint="Make another one.", field="family")
    for place, member in enumerate(new, start=start):
        member.family, member.order = family, place
    FamilyMember.objects.bulk_create(new)
    return len(new)


def _fresh_rate(row: Finding | ModalityCase) -> float | None:
    return row.fresh_fails / row.fresh_n if row.fresh_n and row.fresh_fails is not None else None
