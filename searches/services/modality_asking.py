"""How the system of a MoST run was asked when it answered: its registration may ask otherwise today."""

from searches.models import ModalityRun
from searches.services.seed_inputs import things_of, words_for
from searches.services.suts import asking_of
from vlmlab.core.conventions import BoxConvention
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.asking import AskingParams, localization_prompt
from vlmlab.core.suts.prompt_styles import TARGETS


def asked_in(asking: AskingParams) -> str:
    """Return the words around the targets and the declared convention, as one text.

    A run keeps it and goes on only while its system is asked so.
    """
    return f"{localization_prompt(asking, '')}\n{asking.convention.model_dump_json()}"


def asked_then(run: ModalityRun) -> AskingParams:
    """Return how the system was asked when the run began; what the run does not know is as of today.

    Raises:
        VlmLabError: it was asked in other words than today, and they cannot be found again.
    """
    today, stored = asking_of(run.sut), str(run.run.checkpoint.get("asked_in") or "")
    if run.clean_answer is None or stored in ("", asked_in(today)):
        return today
    around, _, convention = stored.rpartition("\n")
    try:
        return AskingParams(
            localization_template=_template(run, prompt=run.clean_answer.prompt, around=around),
            convention=BoxConvention.model_validate_json(convention),
        )
    except ValueError as error:
        raise VlmLabError(
            f"{run.sut.name} is asked in other words now than when this run began.",
            hint="Put its question prompt back to see what it was asked; what it answered stays readable.",
        ) from error


def _template(run: ModalityRun, *, prompt: str, around: str) -> str:
    """Return the template that a clean prompt was made of; ``around`` is the prompt without its targets.

    Raises:
        ValueError: it was made of none.
    """
    words = words_for(run.label, len(things_of(run.picture, run.label)))
    start = prompt.find(words)
    while start >= 0:
        before, after = prompt[:start], prompt[start + len(words) :]
        if before + after == around:
            return f"{before}{TARGETS}{after}"
        start = prompt.find(words, start + 1)
    raise ValueError("prompt must hold the words of the targets")
