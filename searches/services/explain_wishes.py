"""Follow-ups that an explanation proposes: four cells of a pair, and sets that fill gaps of coverage."""

from collections.abc import Sequence

from searches.services.explain_coverage import PlanWish, coverage_page
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import Source
from searches.services.follow_up_wishes import follow_up_config, interact_wish
from searches.services.follow_ups import FollowUpWish, ItemWish
from vlmlab.core.errors import VlmLabError

PURPOSE = "coverage"


def four_cells_wish(scope: Scope, pair: Sequence[str]) -> FollowUpWish:
    """Return the wish to test a pair of concepts in four cells on the same layouts.

    Raises:
        VlmLabError: it is no pair of this domain, or one of the cells cannot be drawn.
    """
    names = [one for one in dict.fromkeys(pair) if one in scope.domain.index]
    if len(names) != 2:
        raise VlmLabError("Choose two different concepts of this domain.", field="pair")
    words = " + ".join(scope.domain.concept(one).label for one in names)
    return interact_wish(scope.searches[-1], [(names[0], names[1])], name=f"Four cells: {words}"[:120])


def coverage_wish(scope: Scope, *, is_alone: bool, wish: PlanWish, source: Source = "all") -> FollowUpWish:
    """Return the wish to ask the sets of the plan: as many fresh scenes of each, whatever it answers.

    It is a follow-up of a fixed size (kind ``transfer``) on the very system, so its answers are rates.

    Raises:
        VlmLabError: the plan is empty.
    """
    page = coverage_page(scope, is_alone=is_alone, wish=wish, source=source)
    if not page.planned:
        raise VlmLabError(
            "No set would show a new pair or triple for this.",
            hint="Allow more calls or larger sets.",
            field="calls",
        )
    campaign = scope.searches[-1].campaign
    return FollowUpWish(
        kind="transfer",
        config=follow_up_config("transfer", campaign, {"scenes": wish.samples_per_set, "random_sets": 0}),
        domain_ref=campaign.domain_ref,
        items=[(scope.sut, [ItemWish(key=line.key) for line in page.planned])],
        name=f"Fill gaps of coverage: {scope.title}"[:120],
        follows=campaign,
        spec={"purpose": PURPOSE},
    )
