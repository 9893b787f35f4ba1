"""Registered systems: registration, one loaded system a process."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from searches.enums import Queue
from searches.models import SutRecord, User
from searches.services.audit import record
from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.base import Sut, SutInfo, SutReply, SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.kinds import load_sut as load_kind
from vlmlab.core.suts.kinds import parse_params, sut_kind
from vlmlab.core.suts.storable import storable_reply


@dataclass(frozen=True)
class LoadedSut:
    """A system in memory; calls from several threads take turns, because weights are shared.

    Attributes:
        fingerprint: its identity as it was loaded; ``info`` has another one once it ran out of memory.
    """

    record_id: int
    slug: str
    params: Mapping[str, Any]
    sut: Sut
    fingerprint: str
    lock: threading.Lock

    @property
    def info(self) -> SutInfo:
        """Identity and limits of the loaded system."""
        return self.sut.info

    def generate(self, requests: Sequence[SutRequest]) -> list[SutReply]:
        """Answer every request, in order."""
        if not requests:
            return []
        with self.lock:
            return [storable_reply(reply) for reply in self.sut.generate(requests)]


_loaded: LoadedSut | None = None
_loading = threading.RLock()


def checkpoint_roots(*, is_shell: bool = False) -> CheckpointRoots:
    """Return where checkpoints may lie; somebody with a shell on the machine may name any folder."""
    return CheckpointRoots(model_dir=settings.MODEL_DIR, allow_any_folder=is_shell)


@transaction.atomic
def register_sut(
    *,
    slug: str,
    name: str,
    kind: str,
    params: Mapping[str, Any],
    by: User | None,
    description: str = "",
    queue: Queue = Queue.CPU,
    is_sample: bool = False,
) -> SutRecord:
    """Store a system after a look at its checkpoint; nothing of it is loaded or run.

    Raises:
        ConfigError: the slug is taken, the kind is unknown or may not be registered in the browser, or a
            setting is out of range.
        SutError: the checkpoint is not there, or holds pickles or code.
    """
    entry = sut_kind(kind)
    if by is not None and not entry.is_web_registrable:
        raise ConfigError(f"A system of the kind “{entry.title}” cannot be registered here.", field="kind")
    if SutRecord.objects.filter(slug=slug).exists():
        raise ConfigError(f"There is already a system called “{slug}”.", hint="Choose another.", field="slug")
    checked = parse_params(kind, params)
    sut = SutRecord.objects.create(
        slug=slug,
        name=name,
        kind=kind,
        params=checked.model_dump(mode="json"),
        queue=queue,
        description=description,
        details=_inspect(kind, params),
        is_sample=is_sample,
        created_by=by,
    )
    record(by, "registered", sut, after={"kind": kind, "params": sut.params})
    return sut


@transaction.atomic
def edit_sut(
    sut: SutRecord, *, name: str, params: Mapping[str, Any], by: User | None, description: str, queue: Queue
) -> None:
    """Change a system; results found before keep the fingerprint they were found with.

    Raises:
        ConfigError: a setting is out of range.
        SutError: the checkpoint is not there, or holds pickles or code.
    """
    before = {"name": sut.name, "params": sut.params, "queue": sut.queue}
    checked = parse_params(sut.kind, params)
    sut.name, sut.description, sut.queue = name, description, queue
    if sut.params != checked.model_dump(mode="json"):
        sut.params, sut.fingerprint = checked.model_dump(mode="json"), ""
        sut.details = _inspect(sut.kind, params)
    sut.save(update_fields=["name", "description", "queue", "params", "fingerprint", "details"])
    record(by, "edited", sut, before=before, after={"name": name, "params": sut.params, "queue": queue})


@transaction.atomic
def set_enabled(sut: SutRecord, *, is_enabled: bool, by: User | None) -> None:
    """Allow or stop new work with a system."""
    SutRecord.objects.filter(pk=sut.pk).update(is_enabled=is_enabled)
    record(by, "switched on" if is_enabled else "switched off", sut, before={"is_enabled": sut.is_enabled})


def load_sut(sut: SutRecord) -> LoadedSut:
    """Return the system in memory; another one that was loaded is closed first.

    Raises:
        SutError: it is switched off, or cannot be loaded.
        ConfigError: its stored settings are not valid any more.
    """
    global _loaded
    if not sut.is_enabled:
        raise SutError(
            f"{sut.name} is switched off.", hint="Switch it on again on its page, then resume the run."
        )
    with _loading:
        if _loaded is not None and (_loaded.record_id, _loaded.params) == (sut.pk, sut.params):
            return _loaded
        unload_sut()
        loaded = load_kind(sut.kind, sut.params, checkpoint_roots(is_shell=sut.created_by_id is None))
        _loaded = LoadedSut(
            sut.pk, sut.slug, dict(sut.params), loaded, loaded.info.fingerprint, threading.Lock()
        )
    if sut.fingerprint != loaded.info.fingerprint:
        SutRecord.objects.filter(pk=sut.pk).update(
            fingerprint=loaded.info.fingerprint, details={**sut.details, **loaded.info.details}
        )
    return _loaded


def unload_sut() -> None:
    """Free the loaded system, once no thread is asking it."""
    global _loaded
    with _loading:
        if _loaded is not None:
            with _loaded.lock:
                _loaded.sut.close()
        _loaded = None


def loaded_sut() -> LoadedSut | None:
    """Return what this process has in memory, if anything."""
    return _loaded


def count_calls(sut_id: int, replies: Sequence[SutReply]) -> None:
    """Add sent calls to a system's totals, inside the caller's transaction."""
    if not replies:
        return
    errors = [reply.call_error for reply in replies if reply.is_call_error]
    values: dict[str, Any] = {
        "n_calls": F("n_calls") + len(replies),
        "n_call_errors": F("n_call_errors") + len(errors),
        "latency_ms_sum": F("latency_ms_sum")
        + sum(reply.latency_ms for reply in replies if not reply.is_call_error),
        "spend_usd": F("spend_usd") + sum(reply.cost_usd for reply in replies),
        "last_used_at": Now(),
    }
    if errors:
        values["last_error"] = errors[-1]
    SutRecord.objects.filter(pk=sut_id).update(**values)


def _inspect(kind: str, params: Mapping[str, Any]) -> dict[str, str]:
    entry = sut_kind(kind)
    if entry.inspect is None:
        return {}
    report = entry.inspect(parse_params(kind, params), checkpoint_roots())
    return {
        "model_type": report.model_type,
        "architecture": ", ".join(report.architectures),
        "parameters": f"{report.parameters:,}",
        "weight_bytes": f"{report.weight_bytes:,}",
        "stored_dtype": ", ".join(report.stored_dtypes),
    }
