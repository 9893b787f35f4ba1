"""Where a provider's key may be sent: to the one server that it was entered for, and nowhere else."""

from pydantic import BaseModel

from vlmlab.core.suts.network import endpoint_of
from vlmlab.core.suts.remote_params import OpenAIChatParams

GOOGLE = "https://generativelanguage.googleapis.com"
ANTHROPIC = "https://api.anthropic.com"
FIXED_ORIGINS: dict[str, str] = {
    "gemini": GOOGLE,
    "anthropic": ANTHROPIC,
    "bedrock": "https://*.amazonaws.com",
}
"""Kinds whose address nobody can choose; Bedrock's has the region in its name and gets no secret at all."""


def origin_of_address(kind: str, address: str) -> str:
    """Return the server that a key of a kind is for: scheme, host and port in one spelling.

    Args:
        kind: key of ``SUT_KINDS``.
        address: where the person who enters the key wants it sent; of no matter for kinds with one address.

    Raises:
        SutError: it is no address; ``field`` is ``base_url``.
    """
    if kind in FIXED_ORIGINS:
        return FIXED_ORIGINS[kind]
    endpoint = endpoint_of(address)
    return f"{endpoint.scheme}://{endpoint.authority}"


def origin_of(kind: str, params: BaseModel) -> str:
    """Return the server that a system with these settings sends its key to, "" where it sends none.

    Raises:
        SutError: the address in the settings is none.
    """
    if kind not in FIXED_ORIGINS and not isinstance(params, OpenAIChatParams):
        return ""
    return origin_of_address(kind, getattr(params, "base_url", ""))
