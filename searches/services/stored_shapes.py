"""What another version of the lab stored may have another shape: pages say so instead of breaking."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from vlmlab.core.errors import VlmLabError

logger = logging.getLogger(__name__)
MISSHAPEN = (KeyError, IndexError, TypeError, ValueError, AttributeError)  # pydantic's errors are ValueErrors


@contextmanager
def reading_stored(what: str, *, hint: str) -> Iterator[None]:
    """Turn what goes wrong with a stored shape into a sentence; the log keeps the cause.

    Args:
        what: the stored thing, such as "calibration".
        hint: how to get a new one.

    Raises:
        VlmLabError: it cannot be read.
    """
    try:
        yield
    except VlmLabError:
        raise
    except MISSHAPEN as error:
        logger.exception("a stored %s cannot be read", what)
        raise VlmLabError(
            f"This {what} was stored by another version of the lab and cannot be read.", hint=hint
        ) from error
