"""What a follow-up came to, in sentences: its result, and how many suspects share its error rate."""

from collections.abc import Mapping

from searches.enums import CASE_METHOD, FollowUpName
from searches.models import Campaign, FollowUpItem
from searches.services.follow_up_progress import FollowUpProgress
from vlmlab.core.verdicts.config import ConfirmConfig, FollowUpConfig
from vlmlab.core.verdicts.paper_protocol import HIGH_RATE, retest_summary
from vlmlab.web.numbers import write_many, write_percent

STATE_WORDS: Mapping[str, Mapping[str, str]] = {
    "ablate": {
        "minimal": "needs all of its concepts,need all of their concepts",
        "reducible": "also fails with fewer concepts,also fail with fewer concepts",
        "undetermined": "is undetermined,are undetermined",
    },
    "probe": {"measured": "is measured,are measured"},
    "transfer": {"measured": "is measured,are measured"},
    "interact": {
        "synergy": "fails more together,fail more together",
        "interference": "fails less together,fail less together",
        "none_shown": "shows no effect of one on the other,show no effect of one on the other",
    },
}
"""Kind -> state of its items -> words of the result, of one and of several."""


def result_sentence(campaign: Campaign, config: FollowUpConfig, progress: FollowUpProgress) -> str:
    """Return what came out in one sentence, or how far it is."""
    n, counts = progress.n_items, progress.by_state
    if not n:
        return "It has nothing to settle."
    if not progress.n_settled:
        return "It is not settled yet." if n == 1 else f"None of {n:,} is settled yet."
    if not isinstance(config, ConfirmConfig):
        is_of_cases = campaign.method == CASE_METHOD
        return _cases_sentence(progress) if is_of_cases else _counted_sentence(campaign.kind, progress)
    if config.protocol == "paper":
        return _retest_sentence(campaign)
    found = counts.get("confirmed", 0)
    first = "none is" if not found else "1 is" if found == 1 else f"{found:,} are"
    rest = ", ".join(f"{counts.get(one, 0):,} {one}" for one in ("refuted", "undetermined"))
    open_words = f", {counts['']:,} still open" if counts.get("") else ""
    what = "test case" if campaign.method == CASE_METHOD else "suspect"
    sentence = f"Of {write_many(n, what)} {first} confirmed, {rest}{open_words}."
    if config.protocol == "sequential" and counts.get("confirmed"):
        level = write_percent(config.fdr_level)
        sentence += f" On average at most {level} of what is confirmed this way is confirmed wrongly."
    return sentence


def _counted_sentence(kind: str, progress: FollowUpProgress) -> str:
    """Return what the items of other kinds came to, in the words of their kind."""
    words = STATE_WORDS.get(kind, {})
    known = [
        f"{number:,} {_state_words(words.get(state, ''), state, number)}"
        for state, number in sorted(
            progress.by_state.items(), key=lambda one: list(words).index(one[0]) if one[0] in words else 99
        )
        if state and number
    ]
    left = f", {progress.by_state['']:,} still open" if progress.by_state.get("") else ""
    what = "pair" if kind == FollowUpName.INTERACT else "set"
    if progress.n_items == 1 and len(known) == 1:
        return f"The {what} {known[0].removeprefix('1 ')}."
    return f"Of {write_many(progress.n_items, what)}, {', '.join(known)}{left}."


def _state_words(words: str, state: str, number: int) -> str:
    if not words:
        return state.replace("_", " ")
    one, several = words.split(",")
    return one if number == 1 else several


def _cases_sentence(progress: FollowUpProgress) -> str:
    """Return how systems answered test cases as they were; a case counts once for each system asked."""
    counts = progress.by_state
    fails, counted = counts.get("fails", 0), counts.get("fails", 0) + counts.get("holds", 0)
    said = f"{fails:,} of {write_many(counted, 'case')} that count fail where they were asked"
    others = (("ineligible", "not eligible"), ("undetermined", "without an answer"), ("", "still open"))
    left = [f"{counts[state]:,} {words}" for state, words in others if counts.get(state)]
    return f"{said}; {', '.join(left)}." if left else f"{said}."


def _retest_sentence(campaign: Campaign) -> str:
    """Return the published table's row of a re-test: mean, spread, and how many fail in at least 80 %."""
    rows = FollowUpItem.objects.filter(campaign=campaign).order_by("run_id", "order")
    summary = retest_summary(list(rows.values_list("fails", "n")))
    if summary.mean is None:
        return "No scene was answered yet."
    spread = "" if summary.sd is None else f", standard deviation {round(100 * summary.sd):,} points"
    return (
        f"Re-test as published: the mean failure rate of {write_many(len(summary.sets), 'set')} is "
        f"{write_percent(summary.mean)}{spread}; {summary.n_high:,} of {len(summary.sets):,} fail in at "
        f"least {write_percent(HIGH_RATE)} of the fresh scenes."
    )


def family_note(campaign: Campaign, config: FollowUpConfig) -> str:
    """Return how many suspects share the error rate and how their number was fixed; "" for other kinds."""
    if not isinstance(config, ConfirmConfig) or config.protocol != "sequential":
        return ""
    if config.later_index is not None:
        came = (
            "These test cases were chosen one by one, or after the family was fixed."
            if campaign.method == CASE_METHOD
            else "These suspects came after the family was fixed."
        )
        return (
            f"{came} They have places from {config.later_index:,} "
            f"in the line of later ones, which has {write_percent(config.later_share)} of the false "
            "discovery rate (e-LOND)."
        )
    of = "all suspects of the search, counted before the first fresh scene was asked"
    if campaign.method == CASE_METHOD:
        of = "the failing cases that were taken up, counted before the first fresh draw"
    return (
        f"K = {config.family_size:,}: {of}. They share {write_percent(1 - config.later_share)} of the false "
        f"discovery rate of {write_percent(config.fdr_level)} (e-BH); the rest is kept for later "
        "suspects."
    )
