"""What the page of operators on prompts shows: a prompt under each operator at rising severities."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from searches.services.operator_pages import operator_heading
from searches.services.prompt_diffs import PromptDiff, prompt_diff
from vlmlab.core.perturb.draws import operator_generator
from vlmlab.core.perturb.text import TEXT_OPERATORS
from vlmlab.core.perturb.text_operator import TextFamily, TextOperator
from vlmlab.core.perturb.text_summaries import TEXT_SUMMARIES

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
        return operator_heading(self.operator.name)

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return TEXT_SUMMARIES[self.operator.name]

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
    rng = operator_generator(seed, image_id="prompt", operator=operator.name)
    changed = operator.apply(prompt, severity, rng, protect=protect)
    return ChangedPrompt(severity, operator.parameter(severity), prompt_diff(prompt, changed))
