"""What to do next with what a finished follow-up found: numbers of findings for each further step."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from searches.enums import FOLLOW_UP_METHOD, FindingState, FollowUpName, Minimality
from searches.models import Campaign, Finding
from searches.services.follow_up_progress import FollowUpProgress

MOST_OFFERED = 100  # findings that one address names


@dataclass(frozen=True)
class NextSteps:
    """Findings that wait for a further step, each as ``finding=1&finding=2``; "" where none does.

    Attributes:
        confirm: smaller sets that an ablation found and that no fresh scene has settled.
        ablate: confirmed ones of which nobody knows whether each concept is needed.
        pin: confirmed ones that no smaller set explains and no family holds.
    """

    confirm: str = ""
    ablate: str = ""
    pin: str = ""


def next_steps(campaign: Campaign, progress: FollowUpProgress) -> NextSteps:
    """Return the further steps of a follow-up that has ended (one query; none before its end)."""
    if not progress.is_final or campaign.method != FOLLOW_UP_METHOD:
        return NextSteps()
    if campaign.kind == FollowUpName.CONFIRM:
        rows = Finding.objects.filter(follow_up_items__campaign=campaign)
    elif campaign.kind == FollowUpName.ABLATE:
        rows = Finding.objects.filter(run__campaign=campaign) | Finding.objects.filter(
            follow_up_items__campaign=campaign
        )
    else:
        return NextSteps()
    kept = rows.filter(covered_by__isnull=True).distinct().order_by("size", "pk")
    found = list(kept.prefetch_related("pinned_in").only("pk", "state", "minimality"))
    confirmed = [one for one in found if one.state == FindingState.CONFIRMED]
    return NextSteps(
        confirm=_numbers([one for one in found if one.state == FindingState.SUSPECTED]),
        ablate=_numbers([one for one in confirmed if not one.minimality]),
        pin=_numbers(
            [one for one in confirmed if one.minimality != Minimality.REDUCIBLE and not one.pinned_in.all()]
        ),
    )


def _numbers(findings: Sequence[Finding]) -> str:
    return urlencode([("finding", one.pk) for one in findings[:MOST_OFFERED]])
