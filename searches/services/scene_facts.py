"""What every page of a scene tells of it: what made it, its description, its truth, the rule that decides."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS

NOT_NOTED = "not noted by the version of the lab that drew it"


@dataclass(frozen=True)
class AnnotationLine:
    """One thing of the truth.

    Attributes:
        number: of its box on the picture; 0 where none is drawn.
        label: what it is called.
        box, amodal_box: corners in whole pixels, "" where nothing can be seen.
        visible_percent: share of it that nothing hides; None where unknown.
        asked: ``yes``, ``no``, or "" where nobody decided.
    """

    number: int
    label: str
    kind: str
    concept: str
    box: str
    amodal_box: str
    visible_percent: int | None
    asked: str
    has_mask: bool


@dataclass(frozen=True)
class DecisionLine:
    """Why an answer is expected: the rule that fired, in words."""

    action: str
    label: str
    words: str
    why: str
    rule_id: str


@dataclass(frozen=True)
class SceneFacts:
    """Everything that a page tells of a scene.

    Attributes:
        made_by: name and value of each thing noted of what made it.
        description: indented JSON, "" where it cannot be told; ``note`` says why.
        decision: None where no rule decides.
        json_url: where the description is downloaded; "" for nowhere.
        zip_url: where the scene is downloaded as a dataset.
        mask_url: picture of the masks, "" where none is known.
    """

    seed: int | None
    attempt: int
    digest: str
    made_by: tuple[tuple[str, str], ...]
    lines: tuple[AnnotationLine, ...]
    decision: DecisionLine | None
    description: str
    note: str = ""
    json_url: str = ""
    zip_url: str = ""
    mask_url: str = ""


def made_by(provenance: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what is noted of what made a scene, the back end and its version first."""
    if not provenance:
        return (("Back end", NOT_NOTED),)
    name = str(provenance.get("backend", ""))
    kind = SCENE_BACKENDS.get(name)
    title = kind.title if kind is not None else name or "not noted"
    version = str(provenance.get("version", ""))
    first = ("Back end", f"{title}, version {version}" if version else title)
    others = sorted(
        set(provenance) - {"backend", "version", "description"}
    )  # the digest stands there already
    words = {one: one.replace("_", " ").capitalize() for one in others}
    return (
        first,
        *((words[one], str(provenance[one])) for one in others if provenance[one] not in ("", None)),
    )


def decision_line(domain: Domain, concepts: Iterable[str]) -> DecisionLine | None:
    """Return the rule that decides about a set today, or None where none does."""
    try:
        found = domain.decide(domain.canonical(concepts))
    except ConceptError:
        return None
    return decided(domain, action=found.action, rule_id=found.rule_id, why=found.why)


def decided(domain: Domain, *, action: str, rule_id: str, why: str) -> DecisionLine:
    """Return a stored decision in the words of its domain."""
    words = next((rule.words for rule in domain.rules if rule.id == rule_id), "")
    return DecisionLine(action, domain.actions.get(action, action), words, why, rule_id)


def scene_lines(
    annotations: Iterable[Mapping[str, Any]], domain: Domain, *, masks: Mapping[str, str]
) -> tuple[AnnotationLine, ...]:
    """Return the truth of a drawn scene; boxes are numbered as on its picture."""
    found, number = [], 0
    for one in annotations:
        is_drawn = bool(one.get("visible_box") and one.get("is_required"))
        number += is_drawn
        concept = str(one.get("concept", ""))
        label = domain.concept(concept).label if concept in domain.index else str(one.get("kind", ""))
        found.append(
            AnnotationLine(
                number=number if is_drawn else 0,
                label=label.replace("_", " "),
                kind=str(one.get("kind", "")),
                concept=concept,
                box=_corners(one.get("visible_box")),
                amodal_box=_corners(one.get("amodal_box")),
                visible_percent=_percent(one.get("visible_fraction")),
                asked="",
                has_mask=bool(masks.get(str(one.get("object_id", "")))),
            )
        )
    return tuple(found)


def truth_lines(annotations: Iterable[Mapping[str, Any]]) -> tuple[AnnotationLine, ...]:
    """Return the truth of a picture of a dataset, numbered in its order."""
    return tuple(
        AnnotationLine(
            number=number,
            label=str(one.get("label") or one.get("concept") or "thing"),
            kind=str(one.get("kind", "")),
            concept=str(one.get("concept", "")),
            box=_corners(one.get("box")),
            amodal_box=_corners(one.get("amodal_box")),
            visible_percent=_percent(one.get("visible_fraction")),
            asked=("yes" if one["is_asked"] else "no") if "is_asked" in one else "",
            has_mask=bool(one.get("mask")),
        )
        for number, one in enumerate(annotations, start=1)
    )


def indented(description: Mapping[str, Any]) -> str:
    """Return a description as JSON for people, "" for an empty one."""
    return json.dumps(description, indent=1, ensure_ascii=False) if description else ""


def _corners(box: Any) -> str:
    return ", ".join(f"{float(value):.0f}" for value in box) if box else ""


def _percent(fraction: Any) -> int | None:
    return None if fraction is None else round(100 * float(fraction))
