"""What the pages of calibrations show: verdicts, the fit of every convention, the pictures one by one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from searches.models import Calibration, SutRecord
from searches.services.calibrations import CalibrationState, calibration_of
from searches.services.stored_shapes import reading_stored
from searches.services.suts import asking_of
from vlmlab.core.conventions import BoxConvention
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.calibration import LEAST_MEDIAN_IOU
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt
from vlmlab.web.boxed_pictures import BoxedPicture, read_box
from vlmlab.web.reading_words import reason_words

OPTION = re.compile(r"^([A-Z])\. (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class FitLine:
    """How well one convention explains the boxes.

    Attributes:
        is_declared: whether the system declared it.
        can_be_used: whether a person may declare it with a click.
    """

    name: str
    words: str
    median_iou: float | None
    n_read: int
    is_declared: bool
    can_be_used: bool


@dataclass(frozen=True)
class ReplyLine:
    """One reply to a picture of the probe.

    Attributes:
        reading: what was read, in words.
        is_good: whether the reading is what was hoped for.
        n_cut: how many of its characters are not kept.
    """

    text: str
    call_error: str
    reading: str
    is_good: bool
    n_cut: int


@dataclass(frozen=True)
class ProbeLine:
    """One picture of the probe with both replies."""

    number: int
    target: str
    picture: BoxedPicture
    where: ReplyLine
    which: ReplyLine
    iou: float | None
    expected_letter: str


@dataclass(frozen=True)
class CalibrationPage:
    """Everything the page of a calibration shows.

    Attributes:
        standing: whether it holds for the system as it is now.
        better: the convention that fits best, when it is not the declared one and may be used.
        declared: the declared convention in words.
        where_prompt, which_prompt: what was sent with the first picture.
        call_errors: sentence -> how often.
    """

    calibration: Calibration
    standing: CalibrationState
    is_current: bool
    fits: tuple[FitLine, ...]
    better: FitLine | None
    declared: str
    lines: tuple[ProbeLine, ...]
    where_prompt: str
    which_prompt: str
    call_errors: tuple[tuple[str, int], ...]

    @property
    def has_boxes(self) -> bool:
        """Whether any reply held a box under any convention."""
        return any(fit.n_read for fit in self.fits)


def calibrations_of(sut: SutRecord) -> QuerySet[Calibration]:
    """Return the calibrations of a system, newest first, without their pictures."""
    rows = Calibration.objects.filter(sut=sut).select_related("sut", "created_by")
    return rows.defer("items", "fits", "sut__details").order_by("-id")


def calibration_page(calibration: Calibration) -> CalibrationPage:
    """Return everything the page of a calibration shows.

    Raises:
        VlmLabError: another version of the lab stored it in another shape.
    """
    with reading_stored("calibration", hint="Calibrate the system again."):
        return _page(calibration)


def _page(calibration: Calibration) -> CalibrationPage:
    standing = calibration_of(calibration.sut)
    asking = AskingParams.model_validate(calibration.asking)
    is_asked_so_now = _is_asked_so_now(calibration)
    fits = tuple(_fit_line(fit, asking.convention, may_be_used=is_asked_so_now) for fit in calibration.fits)
    usable = [fit for fit in fits if fit.can_be_used]
    first = calibration.items[0] if calibration.items else {"target": "", "question": ""}
    return CalibrationPage(
        calibration=calibration,
        standing=standing,
        is_current=standing.standing == "current"
        and standing.calibration is not None
        and standing.calibration.pk == calibration.pk,
        fits=fits,
        better=usable[0] if usable and calibration.boxes_status == "other_convention" else None,
        declared=convention_words(asking.convention),
        lines=tuple(_probe_line(item) for item in calibration.items),
        where_prompt=localization_prompt(asking, first["target"]),
        which_prompt=choice_prompt(asking, first["question"]),
        call_errors=_call_errors(calibration),
    )


def convention_words(convention: BoxConvention) -> str:
    """Return a convention in words: ``0 to 1000, left top right bottom``."""
    order = "left, top, right, bottom" if convention.order == "xyxy" else "top, left, bottom, right"
    if convention.space == "seen_pixels":
        return f"pixels of the picture that it saw: {order}"
    scale = f"{convention.scale:g}" if convention.scale is not None else "1"
    offset = f", bins counted from {convention.bin_offset:g}" if convention.bin_offset else ""
    return f"0 to {scale}: {order}{offset}"


def _is_asked_so_now(calibration: Calibration) -> bool:
    try:
        return bool(asking_of(calibration.sut).model_dump(mode="json") == calibration.asking)
    except VlmLabError:
        return False


def _fit_line(fit: Mapping[str, Any], declared: BoxConvention, *, may_be_used: bool) -> FitLine:
    convention = BoxConvention.model_validate(fit["convention"])
    is_declared = _frame(convention) == _frame(declared)
    return FitLine(
        name=fit["name"],
        words=convention_words(convention),
        median_iou=fit["median_iou"],
        n_read=fit["n_read"],
        is_declared=is_declared,
        can_be_used=may_be_used and not is_declared,
    )


def _frame(convention: BoxConvention) -> tuple[object, ...]:
    return convention.space, convention.scale, convention.order, convention.bin_offset


def _probe_line(item: Mapping[str, Any]) -> ProbeLine:
    where, which = item["where"], item["which"]
    width, height = item["size"]
    boxes = [read_box(0, item["target"], item["true_box"], kind="truth")]
    if where["box"] is not None:
        boxes.append(read_box(0, "read", where["box"], kind="read"))
    return ProbeLine(
        number=item["number"] + 1,
        target=item["target"],
        picture=BoxedPicture(
            url=reverse("blob", args=[item["image_sha256"]]),
            alt=f"Picture {item['number'] + 1}: {item['target']}",
            width=width,
            height=height,
            boxes=tuple(boxes),
        ),
        where=_where_line(where),
        which=_which_line(which, item["expected_letter"], colours=_colours(item["question"])),
        iou=None if where["call_error"] else where["iou"],
        expected_letter=item["expected_letter"],
    )


def _where_line(where: Mapping[str, Any]) -> ReplyLine:
    if where["status"] == "boxes":
        reading = f"IoU {where['iou']:.2f}"
        if where["n_boxes"] > 1:
            reading += f", the first of {where['n_boxes']} boxes"
    else:
        reading = reason_words(where["reason"])
    is_good = where["iou"] >= LEAST_MEDIAN_IOU
    return ReplyLine(where["text"], where["call_error"], reading, is_good, _cut(where))


def _which_line(which: Mapping[str, Any], expected: str, *, colours: Mapping[str, str]) -> ReplyLine:
    letter = which["letter"]
    if not letter:
        reading = "No single option named."
    else:
        said, right = (colours.get(one, one) for one in (letter, expected))
        reading = f"{said}, right" if letter == expected else f"{said}, but it is {right}"
    return ReplyLine(which["text"], which["call_error"], reading, bool(letter), _cut(which))


def _colours(question: str) -> dict[str, str]:
    """Return letter -> colour of the options that a question lists."""
    return {letter: f"{letter} ({colour})" for letter, colour in OPTION.findall(question)}


def _cut(reply: Mapping[str, Any]) -> int:
    return max(0, int(reply["n_characters"]) - len(reply["text"]))


def _call_errors(calibration: Calibration) -> tuple[tuple[str, int], ...]:
    counted: dict[str, int] = {}
    for item in calibration.items:
        for reply in (item["where"], item["which"]):
            if reply["call_error"]:
                counted[reply["call_error"]] = counted.get(reply["call_error"], 0) + 1
    return tuple(sorted(counted.items(), key=lambda one: (-one[1], one[0])))
