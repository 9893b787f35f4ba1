"""What somebody wants settled by a follow-up, before anything of it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from searches.enums import FOLLOW_UP_METHOD
from searches.models import (
    Campaign,
    Envelope,
    FamilyMember,
    Finding,
    ModalityCase,
    RegressionFamily,
    SutRecord,
)
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.verdicts.config import FollowUpConfig, FollowUpKind
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import block_of

MOST_ITEMS = 5_000
MAX_NAME = 120
SENT_TWICE_WITHIN = timedelta(minutes=1)
ACCEPTS_CHANGED = "accepts_changed_system"  # in Campaign.plan
COVERAGE = "coverage"  # FollowUpSource.spec["purpose"]: a transfer to nobody, which fills gaps of coverage


@dataclass(frozen=True)
class ItemWish:
    """One thing to settle, as ``ItemSpec`` of the core describes it, with the rows that it is about.

    Attributes:
        key: the concept set; () for a test case.
        finding, case, member: what it is about, where that is stored.
        block: what seeds its scenes; "" for that of the concept set.
        arms: other sets that are asked on the same scenes.
        settings: what only this item has.
        expected_action: "" for what the rules of the domain say.
    """

    key: Key = ()
    finding: Finding | None = None
    case: ModalityCase | None = None
    member: FamilyMember | None = None
    block: str = ""
    arms: tuple[Key, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    expected_action: str = ""

    @property
    def stored_block(self) -> str:
        """The block that is stored."""
        return self.block or block_of("set", *self.key)


@dataclass(frozen=True)
class FollowUpWish:
    """What somebody wants settled.

    Attributes:
        kind: what is done.
        config: the settings of that kind.
        domain_ref: ``slug@version`` of the domain; "" for test cases.
        items: each system with what is asked of it.
        name: "" for one that says what is done.
        follows: the campaign whose suspects these are.
        family, envelope, spec: what it is started from, where that is no campaign.
        run_seed: where the scenes come from; None for scenes that nothing was asked on before.
        accepts_changed_system: also ask a system that is not the one any more in which the suspects were
            found.
    """

    kind: FollowUpKind
    config: FollowUpConfig
    domain_ref: str
    items: Sequence[tuple[SutRecord, Sequence[ItemWish]]]
    name: str = ""
    follows: Campaign | None = None
    family: RegressionFamily | None = None
    envelope: Envelope | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)
    run_seed: int | None = None
    method: str = FOLLOW_UP_METHOD
    accepts_changed_system: bool = False

    @property
    def keys(self) -> set[Key]:
        """Every set that it names."""
        wishes = [one for _, wishes in self.items for one in wishes]
        return {key for one in wishes for key in (one.key, *one.arms) if key}

    @property
    def title(self) -> str:
        """The name, or what is done."""
        entry = FOLLOW_UPS.get(self.kind)
        what = entry.title if entry is not None else self.kind.capitalize()
        return self.name or (f"{what} of {self.follows.name}" if self.follows else what)[:MAX_NAME]
