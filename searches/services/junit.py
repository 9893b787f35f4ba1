"""A regression as JUnit XML, the format that CI systems read: one test case a mode."""

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from searches.services.regressions import ModeLine, RegressionPage
from vlmlab.core.verdicts.regress import FAMILY_WORDS, MODE_WORDS


def junit_xml(page: RegressionPage) -> str:
    """Return the file: a suite with a test case a mode, and one for the family as a whole.

    A test case fails where the goal of the family is surely missed, passes where it is surely met, and is
    skipped where the scenes do not say: no evidence is no pass.
    """
    cases = [_mode(page, line) for line in page.modes] + [_family(page)]
    failures = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    seconds = _seconds(page)
    name = f"VLM Lab regression {_text(page.family.name if page.family else str(page.campaign.pk))}"
    root = Element("testsuites", {"name": name, **counts, "time": seconds})
    suite = SubElement(
        root,
        "testsuite",
        {"name": name, **counts, "skipped": str(skipped), "time": seconds, "timestamp": _started(page)},
    )
    properties = SubElement(suite, "properties")
    for key, value in _facts(page):
        SubElement(properties, "property", {"name": key, "value": _text(value)})
    suite.extend(cases)
    SubElement(suite, "system-out").text = _text(page.sentence)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _mode(page: RegressionPage, line: ModeLine) -> Element:
    case = Element("testcase", {"classname": _class(page), "name": _text(line.words), "time": "0"})
    word = _word(MODE_WORDS, line.verdict)
    failing = {"worse"} | ({"still_failing"} if page.config.goal == "all_fixed" else set())
    if line.verdict in failing:
        message = _text(f"{word}: {line.sentence}")
        failure = SubElement(case, "failure", {"message": message, "type": line.verdict})
        failure.text = _text(_advice(page))
    elif not line.is_fine:
        SubElement(case, "skipped", {"message": _text(f"{word}: {line.sentence}")})
    SubElement(case, "system-out").text = _text(f"{word}. {line.sentence}")
    return case


def _family(page: RegressionPage) -> Element:
    case = Element("testcase", {"classname": _class(page), "name": "The family as a whole", "time": "0"})
    if page.verdict == "fail":
        failure = SubElement(case, "failure", {"message": _text(page.sentence), "type": "family"})
        failure.text = _text(_advice(page))
    elif page.verdict != "pass":
        SubElement(case, "skipped", {"message": _text(page.sentence)})
    words = _word(FAMILY_WORDS, page.verdict)
    SubElement(case, "system-out").text = _text(f"{words}. {page.sentence}")
    return case


def _advice(page: RegressionPage) -> str:
    return (
        f"Look at the scenes on the page of regression {page.campaign.pk}: each shows what both systems "
        "answered to the same picture."
    )


def _word(words: Mapping[Any, str], verdict: str) -> str:
    return words.get(verdict, "Not compared") if verdict else "No verdict yet"


def _class(page: RegressionPage) -> str:
    return f"vlmlab.regression.{page.family.slug if page.family else page.campaign.pk}"


def _facts(page: RegressionPage) -> list[tuple[str, str]]:
    return [
        ("verdict", page.verdict or "none yet"),
        ("baseline", page.baseline.slug if page.baseline else ""),
        ("candidate", page.candidate.slug if page.candidate else ""),
        ("domain", page.campaign.domain_ref if page.campaign.domain else ""),
        ("scenes", str(page.config.scenes)),
        ("level", f"{page.config.level:g}"),
        ("margin", f"{page.config.margin:g}"),
        ("goal", page.config.goal),
        ("threshold", f"{page.config.failure_rate_threshold:g}"),
        ("run_seed", str(page.runs[0].run_seed) if page.runs else ""),
        ("campaign", str(page.campaign.pk)),
    ]


def _seconds(page: RegressionPage) -> str:
    return f"{sum(run.active_seconds for run in page.runs):.3f}"


def _started(page: RegressionPage) -> str:
    return page.campaign.created_at.strftime("%Y-%m-%dT%H:%M:%S")


def _text(text: str) -> str:
    """Return text without what XML cannot hold."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in text)
