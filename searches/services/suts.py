"""Registered systems: registration, one loaded system a process."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.validators import slug_re
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from pydantic import BaseModel

from searches.enums import Queue
from searches.models import ApiKey, SutRecord, SutVersion, User
from searches.services.audit import record
from searches.services.key_addresses import check_key_goes_there, checked_key
from searches.services.sut_signals import is_asked_to_stop, progressed
from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.asking import AskingParams
from vlmlab.core.suts.base import Sut, SutInfo, SutReply, SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut as load_kind
from vlmlab.core.suts.kinds import parse_params, sut_kind
from vlmlab.core.suts.network import policy_of
from vlmlab.core.suts.storable import storable_reply

TAKEN_SLUGS = frozenset({"new", "compare", "preview"})
"""Addresses of the site itself, which would hide a system of that name."""

MOST_SLUG_CHARACTERS = 64
MOST_SETTINGS_CHARACTERS = 100_000


@dataclass(frozen=True)
class LoadedSut:
    """A system in memory; calls from several threads take turns, because weights are shared.

    Attributes:
        fingerprint: its identity as it was loaded; ``info`` has another one once it ran out of memory.
        key_token: the sealed key it was loaded with, "" without one.
    """

    record_id: int
    slug: str
    params: Mapping[str, Any]
    sut: Sut
    fingerprint: str
    lock: threading.Lock
    key_token: str = ""

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


def params_of(sut: SutRecord) -> BaseModel:
    """Return the checked settings of a registered system.

    Raises:
        ConfigError: the stored ones are not valid any more.
    """
    return parse_params(sut.kind, sut.params)


def asking_of(sut: SutRecord) -> AskingParams:
    """Return how a registered system is asked; every kind has it.

    Raises:
        ConfigError: its stored settings are not valid any more.
    """
    asking = getattr(params_of(sut), "asking", None)
    return asking if isinstance(asking, AskingParams) else AskingParams()


def sut_context(sut: SutRecord) -> SutContext:
    """Return what loading a registered system needs besides its settings; holds its key in the open.

    Raises:
        ConfigError: its stored key cannot be opened or is for another address, or the allow-list of endpoints
            is not valid.
    """
    if sut.api_key is not None:
        check_key_goes_there(sut.api_key, sut.kind, params_of(sut))
    return SutContext(
        roots=checkpoint_roots(is_shell=sut.created_by_id is None),
        network=policy_of(settings.ENDPOINT_ALLOW),
        api_key=sut.api_key.secret.reveal() if sut.api_key else "",
        on_progress=progressed,
        should_stop=is_asked_to_stop,
    )


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
    api_key: ApiKey | None = None,
    preset: str = "",
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
    if slug in TAKEN_SLUGS or not slug_re.match(slug) or len(slug) > MOST_SLUG_CHARACTERS:
        raise ConfigError(
            f"“{slug}” cannot be a short name.",
            hint=f"Use letters, digits, - and _; {', '.join(sorted(TAKEN_SLUGS))} are taken by the site.",
            field="slug",
        )
    if SutRecord.objects.filter(slug=slug).exists():
        raise _taken(slug)
    checked = parse_params(kind, params)
    _check_limit(checked)
    sut = SutRecord(
        slug=slug,
        name=name,
        kind=kind,
        params=_storable(checked),
        queue=Queue.API if entry.is_remote else queue,
        api_key=checked_key(kind, api_key, checked),
        preset=preset,
        description=description,
        details=_inspect(kind, params),
        is_sample=is_sample,
        created_by=by,
    )
    try:
        with transaction.atomic():
            sut.save(force_insert=True)
    except IntegrityError as error:  # somebody else took the short name at this moment
        raise _taken(slug) from error
    record(by, "registered", sut, after={"kind": kind, "params": sut.params})
    return sut


@transaction.atomic
def edit_sut(
    sut: SutRecord,
    *,
    name: str,
    params: Mapping[str, Any],
    by: User | None,
    description: str,
    queue: Queue,
    api_key: ApiKey | None = None,
) -> None:
    """Change a system; results found before keep the fingerprint they were found with.

    Raises:
        ConfigError: a setting is out of range.
        SutError: the checkpoint is not there, or holds pickles or code.
    """
    before = {"name": sut.name, "params": sut.params, "queue": sut.queue, "key": _key_name(sut.api_key)}
    checked = parse_params(sut.kind, params)
    _check_limit(checked)
    sut.name, sut.description = name, description
    sut.queue = Queue.API if sut_kind(sut.kind).is_remote else queue
    is_same_key = api_key is not None and api_key.pk == sut.api_key_id
    field = "base_url" if is_same_key else "api_key"
    sut.api_key = checked_key(sut.kind, api_key, checked, field=field)
    wanted = _storable(checked)
    if _identity(sut.kind, sut.params) != _identity(sut.kind, wanted):
        sut.fingerprint, sut.details = "", _inspect(sut.kind, params)
    sut.params = wanted
    sut.save(update_fields=["name", "description", "queue", "params", "fingerprint", "details", "api_key"])
    after = {"name": name, "params": sut.params, "queue": sut.queue, "key": _key_name(sut.api_key)}
    record(by, "edited", sut, before=before, after=after)


@transaction.atomic
def set_enabled(sut: SutRecord, *, is_enabled: bool, by: User | None) -> None:
    """Allow or stop new work with a system."""
    SutRecord.objects.filter(pk=sut.pk).update(is_enabled=is_enabled)
    record(by, "switched on" if is_enabled else "switched off", sut, before={"is_enabled": sut.is_enabled})


def _check_limit(params: BaseModel) -> None:
    prices = (getattr(params, "input_price_usd", 0.0), getattr(params, "output_price_usd", 0.0))
    if getattr(params, "spend_cap_usd", None) is not None and None in prices:
        raise ConfigError(
            "A spending limit needs both prices.",
            hint="Enter them, or leave the limit empty.",
            field="spend_cap_usd",
        )


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
        key_token = sut.api_key.secret.token if sut.api_key else ""
        wanted = (sut.pk, sut.params, key_token)
        if _loaded is not None and (_loaded.record_id, _loaded.params, _loaded.key_token) == wanted:
            return _loaded
        unload_sut()
        loaded = load_kind(sut.kind, sut.params, sut_context(sut))
        _loaded = LoadedSut(
            sut.pk, sut.slug, dict(sut.params), loaded, loaded.info.fingerprint, threading.Lock(), key_token
        )
    _note_version(sut, loaded.info)
    if sut.api_key_id is not None:
        ApiKey.objects.filter(pk=sut.api_key_id).update(last_used_at=Now())
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


def _identity(kind: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that decide what a system answers: a new price does not make it another one."""
    return {name: value for name, value in params.items() if name not in sut_kind(kind).unidentifying}


def note_change(sut: SutRecord, change: str) -> None:
    """Show on the page of a system what became of it since it was loaded; its next load shows it afresh."""
    details = SutRecord.objects.select_for_update().values_list("details", flat=True).get(pk=sut.pk)
    SutRecord.objects.filter(pk=sut.pk).update(details={**details, "batch size": change})


def _note_version(sut: SutRecord, info: SutInfo) -> None:
    SutVersion.objects.update_or_create(
        sut=sut, fingerprint=info.fingerprint, defaults={"params": sut.params, "details": info.details}
    )


def _key_name(api_key: ApiKey | None) -> str:
    return api_key.name if api_key else ""


def _taken(slug: str) -> ConfigError:
    return ConfigError(f"There is already a system called “{slug}”.", hint="Choose another.", field="slug")


def _storable(checked: BaseModel) -> dict[str, Any]:
    """Return settings as they are stored.

    Raises:
        ConfigError: there is more of them than any page could show.
    """
    values = checked.model_dump(mode="json")
    sizes = {name: len(json.dumps(value)) for name, value in values.items()}
    if sum(sizes.values()) > MOST_SETTINGS_CHARACTERS:
        longest = max(sizes, key=lambda name: sizes[name])
        raise ConfigError(
            f"The settings have more than {MOST_SETTINGS_CHARACTERS:,} characters, most in {longest}.",
            hint="Send less of it.",
            field=longest,
        )
    return values


def _inspect(kind: str, params: Mapping[str, Any]) -> dict[str, str]:
    entry = sut_kind(kind)
    if entry.inspect is None:
        return {}
    context = SutContext(roots=checkpoint_roots(), network=policy_of(settings.ENDPOINT_ALLOW))
    report = entry.inspect(parse_params(kind, params), context)
    if report is None:
        return {}
    return {
        "model_type": report.model_type,
        "architecture": ", ".join(report.architectures),
        "parameters": f"{report.parameters:,}",
        "weight_bytes": f"{report.weight_bytes:,}",
        "stored_dtype": ", ".join(report.stored_dtypes),
    }
