"""What loading a system needs besides its settings: folders, a key, the network policy, and signals."""

from collections.abc import Callable
from dataclasses import dataclass, field

from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.network import NetworkPolicy


def no_progress() -> None:
    """Tell nobody."""


def never() -> bool:
    """Return False: nobody asks for an end."""
    return False


@dataclass(frozen=True)
class SutContext:
    """Everything that is not a stored setting.

    Attributes:
        roots: where checkpoints may lie.
        network: which addresses may be connected to.
        api_key: secret of the provider, "" for none; never shown, never part of a fingerprint.
        on_progress: called whenever an answer has arrived, so that a slow batch does not look stuck.
        should_stop: whether the batch in hand is to end; a remote system then sends no further call of it.
    """

    roots: CheckpointRoots = field(default_factory=CheckpointRoots)
    network: NetworkPolicy = field(default_factory=NetworkPolicy)
    api_key: str = field(default="", repr=False)
    on_progress: Callable[[], None] = no_progress
    should_stop: Callable[[], bool] = never
