"""From what a form says to the wish of a follow-up."""

from collections.abc import Mapping
from typing import Any

from searches.enums import FollowUpName
from searches.services.follow_up_starts import StartSource, narrowed
from searches.services.follow_up_wishes import ablate_wish, confirm_wish, probe_wish
from searches.services.follow_ups import FollowUpWish
from vlmlab.core.errors import VlmLabError

MAKERS = {
    FollowUpName.CONFIRM: confirm_wish,
    FollowUpName.ABLATE: ablate_wish,
    FollowUpName.PROBE: probe_wish,
}


def make_wish(
    kind: str,
    source: StartSource,
    *,
    values: Mapping[str, Any],
    which: str,
    top: int | None,
    name: str,
    accepts_changed_system: bool = False,
) -> FollowUpWish:
    """Return the wish.

    Args:
        kind: one of ``MAKERS``.
        source: what it is started from.
        values: settings by name.
        which: which findings of the source, see ``narrowed``.
        top: how many of those that failed most.
        name: of the follow-up; "" for one that says what is done.
        accepts_changed_system: also ask a system that has changed since its search.

    Raises:
        VlmLabError: nothing is left to ask, or the findings cannot be followed up together.
    """
    findings = narrowed(source, which=which, top=top)
    if not findings:
        raise VlmLabError("No suspect is left with this choice.", hint="Choose all suspects.", field="which")
    return MAKERS[FollowUpName(kind)](
        findings, values=values, name=name, accepts_changed_system=accepts_changed_system
    )
