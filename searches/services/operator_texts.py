"""What the page of operators on prompts shows: a prompt under each operator at rising severities."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np

from searches.services.operator_pages import operator_title
from searches.services.prompt_diffs import PromptDiff, prompt_diff
from vlmlab.core.perturb.text import TEXT_OPERATORS
from vlmlab.core.perturb.text_operator import TextFamily, TextOperator
from vlmlab.core.seeding import derive_seed

SEVERITIES = (0.2, 0.4, 0.6, 0.8, 1.0)
FAMILIES: tuple[TextFamily, ...] = get_args(TextFamily)
MOST_PROMPT_CHARACTERS = 10_000
LONG_PROMPT = 2_000
"""Characters above which a page shows one family at a time: every difference repeats the whole prompt."""

DEFAULT_SEED = 1
DEFAULT_PROMPT = (
    "Locate every traffic cone in this picture. Answer with a JSON list and nothing else: one entry for "
    'each, such as [{"label": "traffic cone", "bbox_2d": [x_min, y_min, x_max, y_max]}].'
)

SUMMARIES: Mapping[str, str] = {
    "synonym": "A label gives way to another name of the same thing.",
    "homophone": "A label gives way to words that sound like it.",
    "word_order": "Neighbouring words change places.",
    "filler": "Words such as “um” and “well” come before words.",
    "politeness": "Requests are made kindly, and courtesies are put between sentences.",
    "irrelevant_context": "Sentences that have nothing to do with the question are put in.",
    "distractor_instruction": "Sentences that ask for something else are put in.",
    "char_swap": "Two neighbouring letters of a word change places.",
    "char_delete": "A word loses a letter.",
    "char_insert": "A word gets a letter more.",
    "char_repeat": "A letter of a word is typed twice.",
    "keyboard_typo": "A letter gives way to one beside it on the keyboard.",
    "casing": "Capitals and small letters of a word change.",
    "punctuation": "Marks after words are left out, put in, doubled or changed.",
    "ocr_confusion": "Letters give way to signs that a scanner takes them for.",
}


@dataclass(frozen=True)
class ChangedPrompt:
    """A prompt under an operator at one severity."""

    severity: float
    probability: float
    diff: PromptDiff


@dataclass(frozen=True)
class TextStrip:
    """One operator with the prompt at rising severities."""

    operator: TextOperator
    prompts: tuple[ChangedPrompt, ...]

    @property
    def title(self) -> str:
        """Its name in words."""
        return operator_title(self.operator.name)

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return SUMMARIES[self.operator.name]

    @property
    def sets(self) -> str:
        """What its severity sets, in words."""
        return self.operator.parameter_name.replace("_", " ")

    @property
    def is_idle(self) -> bool:
        """Whether it leaves this prompt as it is at every severity."""
        return all(one.diff.is_same for one in self.prompts)


def text_strips(
    prompt: str,
    *,
    seed: int,
    family: str = "",
    protect: tuple[str, ...] = (),
    operators: Mapping[str, TextOperator] = TEXT_OPERATORS,
) -> list[TextStrip]:
    """Return every operator, or those of a family, with the changed prompts.

    Args:
        prompt: the clean prompt.
        seed: of the draws.
        family: one of ``FAMILIES``, or "" for all.
        protect: texts of the prompt that stay as they are.
        operators: with other word tables than the shipped ones.
    """
    return [
        TextStrip(operator, tuple(_changed(operator, prompt, one, seed, protect) for one in SEVERITIES))
        for operator in operators.values()
        if family in ("", operator.family)
    ]


def shown_family(prompt: str, family: str) -> str:
    """Return the family to show: the chosen one, or of a long prompt the first instead of all."""
    return family or (FAMILIES[0] if len(prompt) > LONG_PROMPT else "")


def _changed(
    operator: TextOperator, prompt: str, severity: float, seed: int, protect: tuple[str, ...]
) -> ChangedPrompt:
    rng = np.random.Generator(np.random.PCG64(derive_seed(seed, "perturb", "prompt", operator.name)))
    changed = operator.apply(prompt, severity, rng, protect=protect)
    return ChangedPrompt(severity, operator.parameter(severity), prompt_diff(prompt, changed))
