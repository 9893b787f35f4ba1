"""What a registration would send, shown before anything is loaded or connected."""

import json
from ipaddress import ip_network

from pydantic import BaseModel, JsonValue

from vlmlab.core.images import png_size
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import sut_kind
from vlmlab.core.suts.local_params import TransformersLocalParams
from vlmlab.core.suts.network import AllowedNetwork, NetworkPolicy
from vlmlab.core.suts.provider import picture_words
from vlmlab.core.suts.remote_params import RemoteParams

# Nothing is connected here, and an address that is not allowed yet can be looked at all the same.
_ANYWHERE = NetworkPolicy(
    tuple(AllowedNetwork(ip_network(every), 1, 65_535) for every in ("0.0.0.0/0", "::/0"))
)
_ANY_KEY = "preview:without-a-key"  # with the colon of a pair of AWS keys


def preview_request(kind: str, params: BaseModel, request: SutRequest, *, has_key: bool | None = None) -> str:
    """Return the exact request as JSON for people, with words in place of the picture's bytes.

    Args:
        kind: key of ``SUT_KINDS``.
        params: checked settings of that kind.
        request: the question.
        has_key: whether a key is sent; None: whether the kind cannot do without.

    Raises:
        ConfigError: there is no such kind, or settings contradict each other.
        SutError: the address is none.
        ImageError: the picture is not readable.
    """
    entry = sut_kind(kind)
    if isinstance(params, RemoteParams):
        from vlmlab.core.suts.providers import provider_kind
        from vlmlab.core.suts.remote import described

        is_keyed = entry.is_key_required if has_key is None else has_key
        context = SutContext(network=_ANYWHERE, api_key=_ANY_KEY if is_keyed else "")
        provider = provider_kind(params).make(params, context)
        try:
            return described(provider, params, request=request)
        finally:
            provider.close()
    shown: dict[str, JsonValue]
    if isinstance(params, TransformersLocalParams):
        shown = _local(params, request)
    else:
        shown = {"prompt": request.prompt, "picture": _picture(request)}
    return json.dumps(shown, indent=2, ensure_ascii=False)


def _local(params: TransformersLocalParams, request: SutRequest) -> dict[str, JsonValue]:
    """Return the conversation that the checkpoint's chat template gets, and how the reply is decoded."""
    conversation: list[JsonValue] = [
        {
            "role": "user",
            "content": [
                {"type": "image", "image": _picture(request)},
                {"type": "text", "text": request.prompt},
            ],
        }
    ]
    if params.system_prompt:
        system: JsonValue = [{"type": "text", "text": params.system_prompt}]
        conversation.insert(0, {"role": "system", "content": system})
    generation: dict[str, JsonValue] = {
        "max_new_tokens": params.max_new_tokens,
        "do_sample": params.temperature is not None,
    }
    if params.temperature is not None:
        generation["temperature"] = params.temperature
    return {"checkpoint": params.checkpoint, "conversation": conversation, "generation": generation}


def _picture(request: SutRequest) -> str:
    return picture_words(request.image_png, png_size(request.image_png))
