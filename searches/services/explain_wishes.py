"""Follow-ups that an explanation proposes: four cells of a pair, and sets that fill gaps of coverage."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from searches.services.explain_concepts import replies
from searches.services.explain_coverage import PlanWish, coverage_page
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import Source, shown_sets
from searches.services.follow_up_wished import COVERAGE
from searches.services.follow_up_wishes import follow_up_config, interact_wish
from searches.services.follow_ups import FollowUpWish, ItemWish
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.verdicts.config import ProbeConfig
from vlmlab.core.verdicts.probe import probe_settings
from vlmlab.core.verdicts.regimes import recognise

LEAST_REPLIES = 10  # replies from which the recognition of a concept is told


@dataclass(frozen=True)
class ProbeOffer:
    """A probe that would tell the recognition of every concept that was shown.

    Attributes:
        keys: sets to probe, chosen one after the other for the concepts they hold.
        concepts: concepts that they tell.
        calls: answers it takes, with and without statements.
    """

    keys: tuple[Key, ...]
    concepts: tuple[str, ...]
    calls: int


def probe_offer(scope: Scope) -> ProbeOffer:
    """Return the probe of the concepts whose recognition is not told yet (three queries)."""
    seen = recognise(one.said for one in replies(scope.follow_ups))
    told = {concept for concept, one in seen.items() if one.replies >= LEAST_REPLIES}
    shown = {one.key for one in shown_sets(scope) if scope.domain.is_compatible(one.key)}
    wanted = [
        one.id
        for one in scope.domain.concepts
        if one.id not in told and one.statement_true and one.statement_false
    ]
    keys = covering_sets(sorted(shown, key=lambda key: (len(key), key)), wanted)
    held = {concept for key in keys for concept in key}
    scenes = ProbeConfig().scenes
    return ProbeOffer(keys, tuple(one for one in wanted if one in held), 2 * scenes * len(keys))


def covering_sets(keys: Sequence[Key], wanted: Collection[str]) -> tuple[Key, ...]:
    """Return sets that hold every wanted concept that any holds, chosen greedily, the first on ties."""
    left, chosen = set(wanted), []
    while keys:
        best = max(keys, key=lambda key: len(left.intersection(key)))
        if not left.intersection(best):
            break
        chosen.append(best)
        left -= set(best)
    return tuple(chosen)


def concept_probe_wish(scope: Scope) -> FollowUpWish:
    """Return the wish to ask what the system sees of the concepts whose recognition is not told yet.

    Raises:
        VlmLabError: it is told of all that were shown.
    """
    offer = probe_offer(scope)
    if not offer.keys:
        raise VlmLabError("The recognition of every concept that was shown is told already.")
    campaign = scope.searches[-1].campaign
    items = [ItemWish(key=key, settings=probe_settings(scope.domain, key)) for key in offer.keys]
    return FollowUpWish(
        kind="probe",
        config=follow_up_config("probe", campaign),
        domain_ref=campaign.domain_ref,
        items=[(scope.sut, items)],
        name=f"Recognition of concepts: {scope.title}"[:120],
        follows=campaign,
    )


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
        spec={"purpose": COVERAGE},
    )
