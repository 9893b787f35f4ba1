"""Which stored key a system may use: one of its kind, entered for the server that it is sent to."""

from django.conf import settings
from pydantic import BaseModel

from searches.models import ApiKey
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.suts.kinds import sut_kind
from vlmlab.core.suts.network import check_endpoint, policy_of
from vlmlab.core.suts.origins import origin_of, origin_of_address


def check_key_goes_there(api_key: ApiKey, kind: str, params: BaseModel, *, field: str = "api_key") -> None:
    """Check that settings send a key to the server that it was entered for.

    Otherwise whoever may choose an address could have any stored key sent to a server of their own.

    Raises:
        ConfigError: they send it elsewhere.
    """
    _check_origin(api_key, origin_of(kind, params), field=field)


def _check_origin(api_key: ApiKey, origin: str, *, field: str) -> None:
    if not origin or api_key.origin != origin:
        raise ConfigError(
            f"The key {api_key} is only for {api_key.origin or 'no address'}, not for "
            f"{origin or 'this kind'}.",
            hint="Enter the key again as a new one for this address, or keep the address.",
            field=field,
        )


def refusals(
    kind: str, *, address: str, stored_key: int | None, is_kept: bool, new_key_name: str
) -> list[VlmLabError]:
    """Return what registering would refuse of an address and a key, whatever the other settings are.

    So that a form can say everything that is wrong with it at once; registering checks again.

    Args:
        kind: key of ``SUT_KINDS``.
        address: what was typed, "" for a kind whose address nobody chooses.
        stored_key: number of the chosen key, None without one.
        is_kept: whether the system has used this key before, so that the address is what is new.
        new_key_name: what a new key shall be called, "" without one.
    """
    found: list[VlmLabError] = []
    try:
        if address:
            check_endpoint(address, policy_of(settings.ENDPOINT_ALLOW))
    except VlmLabError as error:
        found.append(error)
    api_key = ApiKey.objects.filter(pk=stored_key).first() if stored_key is not None else None
    if api_key is not None and not found:
        try:
            origin = origin_of_address(kind, address)
            _check_origin(api_key, origin, field="base_url" if is_kept else "api_key")
        except ConfigError as error:
            found.append(error)
    if new_key_name and ApiKey.objects.filter(name=new_key_name).exists():
        found.append(key_name_taken(new_key_name, field="key_name"))
    return found


def key_name_taken(name: str, *, field: str = "name") -> ConfigError:
    """Return the error of a name that another key has."""
    return ConfigError(f"There is already a key called “{name}”.", hint="Choose another name.", field=field)


def checked_key(
    kind: str, api_key: ApiKey | None, params: BaseModel, *, field: str = "api_key"
) -> ApiKey | None:
    """Return a key that belongs to a kind and is for the address that the settings name.

    Raises:
        ConfigError: it is missing, belongs to another provider or address, or the kind takes none.
    """
    entry = sut_kind(kind)
    if api_key is None and entry.is_key_required:
        raise ConfigError(
            f"{entry.title} needs a key.", hint="Choose a stored one or enter a new one.", field="api_key"
        )
    if api_key is not None and api_key.kind != kind:
        raise ConfigError(
            f"The key {api_key} is for another kind of system.", hint="Choose another.", field="api_key"
        )
    if api_key is not None:
        check_key_goes_there(api_key, kind, params, field=field)
    return api_key
