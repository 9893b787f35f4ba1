"""The text operators in the order they act, and how a strategy's severities change a prompt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vlmlab.core.perturb.text_additions import (
    DISTRACTOR_INSTRUCTION,
    FILLER,
    IRRELEVANT_CONTEXT,
    POLITENESS,
)
from vlmlab.core.perturb.text_form import CASING, PUNCTUATION
from vlmlab.core.perturb.text_operator import TextFamily, TextOperator, token_probability
from vlmlab.core.perturb.text_spelling import OCR_CONFUSION, SPELLING_OPERATORS
from vlmlab.core.perturb.text_wording import HOMOPHONE, SYNONYM, WORD_ORDER, TableOperator
from vlmlab.core.perturb.word_tables import WordTable

__all__ = [
    "TEXT_OPERATORS",
    "TextFamily",
    "TextOperator",
    "perturb_text",
    "text_operators",
    "token_probability",
]

TEXT_OPERATORS: Mapping[str, TextOperator] = {
    operator.name: operator
    for operator in (
        SYNONYM,
        HOMOPHONE,
        WORD_ORDER,
        FILLER,
        POLITENESS,
        IRRELEVANT_CONTEXT,
        DISTRACTOR_INSTRUCTION,
        *SPELLING_OPERATORS,
        CASING,
        PUNCTUATION,
        OCR_CONFUSION,
    )
}
"""Name -> operator, in the order they act: what is said, what is added, how it is typed, set and scanned."""


def text_operators(*tables: WordTable) -> Mapping[str, TextOperator]:
    """Return the operators with some tables in place of the shipped ones of their kinds.

    Raises:
        ValueError: two tables are of one kind.
    """
    by_kind = {table.kind: table for table in tables}
    if len(by_kind) < len(tables):
        raise ValueError("tables must be of different kinds")
    return {
        name: replace(operator, table=by_kind[operator.kind])
        if isinstance(operator, TableOperator) and operator.kind in by_kind
        else operator
        for name, operator in TEXT_OPERATORS.items()
    }


def perturb_text(
    text: str,
    severities: Mapping[str, float],
    *,
    rng_of: Callable[[str], np.random.Generator],
    protect: Sequence[str] = (),
    operators: Mapping[str, TextOperator] = TEXT_OPERATORS,
) -> str:
    """Return a text changed by every operator with a severity above 0, in the order of the operators.

    Args:
        text: the prompt.
        severities: operator name -> severity in [0, 1]; an operator that is missing does not act.
        rng_of: operator name -> a fresh generator; called for acting operators only.
        protect: texts that stay as they are, such as the instruction about the format of the answer.
        operators: the operators in the order they act; ``text_operators`` has them with other tables.

    Raises:
        ValueError: a name is unknown, a severity is outside [0, 1], or a protected text is empty.
    """
    unknown = sorted(set(severities) - set(operators))
    if unknown:
        raise ValueError(f"severities names unknown text operators: {', '.join(unknown)}")
    for name, operator in operators.items():
        severity = severities.get(name, 0.0)
        if severity != 0.0:
            text = operator.apply(text, severity, rng_of(name), protect=protect)
    return text
