"""Template tags of follow-ups of test cases: their rows, and the transfer matrix."""

from collections.abc import Sequence

from django import template
from django.urls import reverse

from searches.charts.case_transfers import transfer_chart
from searches.enums import FollowUpName
from searches.models import Campaign, FollowUpItem
from searches.services.case_items import ItemOfCase, item_draws, items_of_cases
from searches.services.case_pages import DrawLine
from searches.services.case_transfers import transfer_matrix
from searches.services.follow_up_pages import ItemLine
from vlmlab.web.figures import Chart

register = template.Library()


@register.simple_tag
def case_items(lines: Sequence[ItemLine]) -> list[tuple[ItemLine, ItemOfCase]]:
    """Return the rows of a follow-up of cases, each with what its case is."""
    return list(zip(lines, items_of_cases([line.item for line in lines]), strict=True))


@register.simple_tag
def case_item_draws(item: FollowUpItem) -> list[DrawLine]:
    """Return everything that was shown for an item of a follow-up of cases."""
    return item_draws(item)


@register.simple_tag
def case_transfer_chart(campaign: Campaign) -> Chart | None:
    """Return the transfer matrix of a follow-up; None where it is none, or nothing was answered."""
    if campaign.kind not in (FollowUpName.TRANSFER, FollowUpName.REGRESS):
        return None
    matrix = transfer_matrix(campaign)
    if not any(cell.n or cell.ineligible for cell in matrix.cells.values()):
        return None
    address = reverse("follow_up_detail", args=[campaign.pk])
    return transfer_chart(matrix, campaign_id=campaign.pk, address=address)
