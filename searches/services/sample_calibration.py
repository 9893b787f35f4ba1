"""The measured calibration of the shipped model as sample data; its pictures are drawn again, not shipped."""

import json
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime

from searches.models import Calibration, SutRecord
from searches.services.blobs import store_blob
from searches.services.suts import asking_of
from vlmlab.core.errors import VlmLabError

FILE = "calibration.json"
FORMAT = 1
LEFT_OUT = frozenset({"id", "sut", "job", "created_by", "created_at"})


def dump_calibration(sut: SutRecord, *, folder: Path) -> Path:
    """Write the newest calibration of a system as sample data.

    Raises:
        VlmLabError: it has none.
    """
    row = Calibration.objects.filter(sut=sut).order_by("-id").first()
    if row is None:
        raise VlmLabError(f"{sut.name} has not been calibrated.", hint="Calibrate it, then try again.")
    fields = [field for field in row._meta.concrete_fields if field.name not in LEFT_OUT]
    content = {
        "format": FORMAT,
        "sut": {"slug": sut.slug},
        "measured_at": row.created_at.isoformat(timespec="seconds"),
        "calibration": {field.name: field.value_from_object(row) for field in fields},
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


@transaction.atomic
def load_calibration(folder: Path) -> str:
    """Give the sample system its calibration where it has none.

    The identity that was measured becomes the system's until it is loaded here; should it turn out to be
    another one on this machine, the calibration is out of date and every page says so.

    Returns:
        One sentence, "" when there was nothing to do.
    """
    path = folder / FILE
    if not path.exists():
        return ""
    content = json.loads(path.read_text(encoding="utf-8"))
    sut = SutRecord.objects.filter(slug=content["sut"]["slug"], is_sample=True, calibrations=None).first()
    if content.get("format") != FORMAT or sut is None:
        return ""
    values: dict[str, Any] = content["calibration"]
    if asking_of(sut).model_dump(mode="json") != values["asking"]:
        return ""
    row = Calibration.objects.create(sut=sut, **values)
    Calibration.objects.filter(pk=row.pk).update(created_at=parse_datetime(content["measured_at"]))
    SutRecord.objects.filter(pk=sut.pk, fingerprint="").update(fingerprint=row.fingerprint)
    _draw_pictures()
    return f"The calibration of “{sut.slug}” is loaded."


def _draw_pictures() -> None:
    from vlmlab.core.replies.calibration import probe_pictures  # draws; no page needs it

    for picture in probe_pictures():
        store_blob(picture.image_png)
