"""Keeps the verdict of a regression that has ended, for lists; a canary that failed goes to the log."""

import logging

from django.db import transaction

from searches.models import Campaign, Canary, FollowUpSource
from searches.services.regressions import regression_page

logger = logging.getLogger(__name__)

HALTED = "halted"
"""Stored instead of a verdict where a run was cancelled or broke: whoever ends it early saw its answers."""


@transaction.atomic
def settle_regression(campaign: Campaign) -> None:
    """Keep the verdict of a regression whose runs have ended, for lists; a failed canary goes to the log."""
    source = FollowUpSource.objects.select_for_update().filter(campaign=campaign).first()
    if source is None:
        return
    page = regression_page(campaign)
    if not page.is_final:
        return
    was = source.spec.get("verdict", "")
    modes = {
        str(line.old_item.member_id): {
            "verdict": line.verdict,
            "sentence": line.sentence,
            "old": line.counts.first,
            "new": line.counts.second,
            "n": line.counts.n,
        }
        for line in page.modes
        if line.old_item.member_id and line.verdict
    }
    source.spec = dict(source.spec) | {
        "verdict": page.verdict or HALTED,
        "counts": page.tally,
        "modes": modes,
    }
    source.save(update_fields=["spec"])
    if page.verdict == "fail" and was != "fail":
        canary = Canary.objects.filter(last_campaign=campaign).first()
        if canary is not None:
            logger.warning("canary %s: %s", canary, page.sentence)
