"""What the receiver of a disclosure package reads first."""

from collections.abc import Sequence

from searches.models import SutRecord
from vlmlab import __version__
from vlmlab.web.numbers import write_many


def readme(
    sut: SutRecord, *, findings: int, cases: int, states: Sequence[str], contact: str, has_pictures: bool
) -> str:
    """Return the text that explains a package to somebody who does not know this lab."""
    contact = contact.strip() or "Nobody is named in this package; answer to whoever sent it."
    left = "" if has_pictures else "The pictures were left out; their seeds are in the files.\n"
    return TEXT.format(
        name=sut.name,
        version=__version__,
        findings=write_many(findings, "finding"),
        cases=write_many(cases, "test case"),
        states=", ".join(states),
        contact=contact,
        left=left,
    )


TEXT = """What was found about {name}
Written by VLM Lab {version}.

This package holds {findings} and {cases} of the states: {states}.

Whom to write to
{contact}

What a finding is
A set of concepts (for instance a cone, far away, on a wet road) for which scenes were drawn and the system
was asked what to do, with lettered options. A finding says that it answers such scenes wrongly more often
than a threshold. "confirmed" means: after the search, fresh scenes with new seeds were asked, and an
e-value against "not more often than the threshold" crossed its bar, with the false discovery rate of all
suspects tested together held (e-BH, or e-LOND for later ones). fresh_fails of fresh_n are those scenes only.
low and high are an interval that holds however long was sampled, widened for the choice of the sets.
"suspected" was only seen by the search, "undetermined" was not decided, "refuted" was tested and does not
fail that often.

What a test case is
A picture in which the system found a thing, perturbed together with its prompt until it did not. "confirmed"
means that fresh draws of the same perturbations fail again.

What this does not show
Scenes are drawn by a program; nothing here says how often they occur. Right answers are those of the rules
of the domain. Sets that are not named were not shown to be safe.

Files
about.json      what was searched: versions, settings, seeds, fingerprints
findings.csv    a line a finding
findings/       a file a finding: counts, follow-ups, and up to 40 scenes with prompt, options, answer
cases/          a file a test case: perturbations with their severities, prompts, answers, boxes
domains/        concepts and answers that the files name
pictures/       PNG files by the SHA-256 that the other files name
{left}
To repeat a question, send the picture and the prompt as they are. Names of people, keys and addresses are
not in this package unless the sender chose to put them in.
"""
