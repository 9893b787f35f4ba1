"""The sentences of a regression: what each verdict rests on."""

from typing import TYPE_CHECKING

from vlmlab.web.numbers import write_count, write_many, write_p_value, write_percent

if TYPE_CHECKING:
    from searches.services.regressions import ModeLine, RegressionPage
    from vlmlab.core.verdicts.regress import ModeReading


def mode_sentence(line: "ModeLine") -> str:
    """Return what the verdict of a mode rests on."""
    counts = line.counts
    if line.note:
        return line.note
    if not counts.n:
        return "No scene was answered by both systems."
    text = (
        f"Failed on {write_count(counts.first)} of {write_count(counts.n)} scenes before and on "
        f"{write_count(counts.second)} now; {write_count(counts.first_only)} only before, "
        f"{write_count(counts.second_only)} only now"
    )
    if line.reading is None:
        return text + "."
    return (
        f"{text}; {write_p_value(line.reading.p_value)}, after Holm {write_p_value(line.reading.adjusted)}; "
        f"{_bound(line.reading.difference_high)}."
    )


def cases_sentence(page: "RegressionPage") -> str:
    """Return what test cases say together, "" for concept sets."""
    if page.cases is None:
        return ""
    return (
        f"{write_many(page.cases.cases, 'case')} could be compared: {page.cases.worse} worse, "
        f"{page.cases.better} better, {write_p_value(page.cases.p_value)} with the case as the unit."
    )


def _bound(difference_high: float) -> str:
    """Return what is sure of the difference, in points of failure rate."""
    points = round(100 * difference_high, 1)
    if points >= 0:
        return f"surely at most {points:g} points more often"
    return f"surely at least {-points:g} points less often"


def page_sentence(page: "RegressionPage") -> str:
    """Return the verdict of a regression in one sentence."""
    candidate = page.candidate.name if page.candidate else "The candidate"
    noun = "test case" if page.has_cases else "mode"
    if not page.is_final:
        return f"{candidate} is being asked; the verdict comes when both systems have answered everything."
    if page.is_halted:
        states = {
            run.sut.name: run.get_state_display().lower() for run in page.runs if run.state != "succeeded"
        }
        ended = "; ".join(f"the run on {name} is {state}" for name, state in states.items())
        return f"There is no verdict, because not everything was asked: {ended}."
    if page.cases is not None and page.cases.whole is not None:
        return _whole_sentence(page, candidate, page.cases.whole)
    worse = [line.words for line in page.modes if line.verdict == "worse"]
    if page.verdict == "fail" and worse:
        named = ", ".join(worse[:3]) + (f" and {len(worse) - 3} more" if len(worse) > 3 else "")
        return f"{candidate} fails more often than before on {write_many(len(worse), noun)}: {named}."
    if page.verdict == "fail" and page.config.goal == "all_fixed":
        return f"{candidate} still fails on {write_many(page.tally.get('still_failing', 0), noun)}."
    fixed = page.tally.get("fixed", 0)
    more = f" {fixed} of {len(page.modes)} {'is' if fixed == 1 else 'are'} fixed." if fixed else ""
    if page.verdict == "pass" and page.config.goal == "all_fixed":
        threshold = write_percent(page.config.failure_rate_threshold)
        return f"On every {noun} {candidate} surely fails on less than {threshold} of scenes.{more}"
    if page.verdict == "pass":
        within = f"is fixed, or surely fails at most {round(100 * page.config.margin, 1):g} points more often"
        return f"Every {noun} of {candidate} {within}.{more}"
    open_ones = sum(not line.is_fine for line in page.modes)
    wish = "is fixed" if page.config.goal == "all_fixed" else "is no worse"
    return (
        f"Nothing is shown to be worse, but for {open_ones} of {write_many(len(page.modes), noun)} it is not "
        f"shown either that it {wish}: that is no pass."
    )


def _whole_sentence(page: "RegressionPage", candidate: str, whole: "ModeReading") -> str:
    """Return the verdict on test cases of which each was compared once: all of them are one mode."""
    counts, threshold = whole.counts, write_percent(page.config.failure_rate_threshold)
    told = (
        f"{write_count(counts.second)} of {write_many(counts.n, 'test case')} fail now, "
        f"{write_count(counts.first)} did before"
    )
    if page.verdict == "fail" and whole.verdict == "worse":
        return f"{candidate} fails on more test cases than the baseline: {told}."
    if page.verdict == "fail":
        return f"{candidate} surely still fails on at least {threshold} of test cases: {told}."
    if page.verdict == "pass" and page.config.goal == "all_fixed":
        return f"{candidate} surely fails on less than {threshold} of test cases: {told}."
    if page.verdict == "pass" and whole.verdict == "fixed":
        return f"{candidate} fails on fewer test cases than the baseline: {told}."
    if page.verdict == "pass":
        return f"On all test cases together {candidate} fails {_bound(whole.difference_high)}: {told}."
    return (
        f"Nothing is shown to be worse, but it is not shown either that {candidate} is no worse: {told}. "
        "That is no pass."
    )
