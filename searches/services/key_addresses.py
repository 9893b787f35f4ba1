"""Which stored key a system may use: one of its kind, entered for the server that it is sent to."""

from pydantic import BaseModel

from searches.models import ApiKey
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.kinds import sut_kind
from vlmlab.core.suts.origins import origin_of


def check_key_goes_there(api_key: ApiKey, kind: str, params: BaseModel, *, field: str = "api_key") -> None:
    """Check that settings send a key to the server that it was entered for.

    Otherwise whoever may choose an address could have any stored key sent to a server of their own.

    Raises:
        ConfigError: they send it elsewhere.
    """
    origin = origin_of(kind, params)
    if not origin or api_key.origin != origin:
        raise ConfigError(
            f"The key {api_key} is only for {api_key.origin or 'no address'}, not for "
            f"{origin or 'this kind'}.",
            hint="Enter the key again as a new one for this address, or keep the address.",
            field=field,
        )


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
