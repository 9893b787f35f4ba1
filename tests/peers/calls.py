"""What tests of every provider share: a call with a picture, the failure of a try, strangers' JSON."""

import io

import pytest
from hypothesis import strategies as st
from PIL import Image

from vlmlab.core.suts.provider import CallFailure, Provider, ProviderCall


def picture(size: tuple[int, int] = (40, 30)) -> bytes:
    """Return a PNG of one colour."""
    stream = io.BytesIO()
    Image.new("RGB", size, "red").save(stream, "PNG")
    return stream.getvalue()


def call(prompt: str = "Where is the cup?", *, size: tuple[int, int] = (40, 30)) -> ProviderCall:
    """Return a question about a small picture."""
    return ProviderCall(picture(size), size, prompt)


def failure_of(provider: Provider) -> CallFailure:
    """Return how one try fails."""
    with pytest.raises(CallFailure) as caught:
        provider.send(call())
    return caught.value


def strange_json(*names: str) -> st.SearchStrategy[object]:
    """Return JSON values whose objects also use names that a reader looks for."""
    keys = st.sampled_from(names) | st.text(max_size=4)
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=6)
        | st.sampled_from(("message", "text", "STOP", "end_turn", "refusal", "5.5s", "PerDay"))
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6),
        max_leaves=25,
    )
