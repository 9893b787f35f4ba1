"""What is asked about a training picture and what is taught as the answer: decisions, statements, places."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tools.pocket.claims import certain_statements, draw_statements
from tools.pocket.deciding import answered_as, draw_decision, every_question
from tools.pocket.labelling import label_of
from tools.pocket.locating import SYNONYMS, WORDINGS, Places, draw_location, joined, labels_of_domain
from tools.pocket.shards import PictureRecord, SeenObject
from tools.pocket.tokenizer import MOST_STATEMENTS
from vlmlab.core.replies.probe_pictures import COLOURS
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.recognition import probed, statement_prompt
from vlmlab.core.seeding import pick

OWN_STATEMENT_SHARE = 0.7
STATEMENT_WORDINGS = (
    "True or false? {statement} Answer T or F.",
    "{statement} T or F?",
    "Is this true of the picture? {statement} Reply T for true or F for false.",
)


@dataclass(frozen=True)
class Dialogue:
    """One prompt with the answer that is taught for it.

    Attributes:
        prompt: the user's text.
        answer: the whole reply.
        claims: texts of the prompt (options, statements) in their order, each with whether it is right; a
            helper loss judges each where it ends.
        places: words of the prompt for what is there, in their order, each with its box; a helper loss tells
            the box where the words end.
    """

    prompt: str
    answer: str
    claims: tuple[tuple[str, bool], ...] = ()
    places: Places = ()


def draw_dialogue(
    kind: str,
    record: PictureRecord,
    objects: Sequence[SeenObject],
    *,
    rng: np.random.Generator,
    by_people: bool = False,
) -> Dialogue:
    """Ask about a picture.

    Args:
        kind: ``decision``, ``location``, ``statement`` or ``probe`` (statements, then the question). Where
            nothing can be asked in this kind it is another one.
        record: the picture.
        objects: its objects, moved, perhaps.
        rng: the source of all choices.
        by_people: decisions are taught as people labelled the picture, with their habits.
    """
    if record.domain == "probe":
        return _about_rectangle(kind, record, objects, rng=rng)
    if kind == "location":
        drawn = draw_location(record, objects, rng=rng)
        if drawn is not None:
            return Dialogue(drawn[0], drawn[1], places=drawn[2])
        kind = "statement"
    if kind == "statement":
        (statement,) = draw_statements(record, certain_statements(record), 1, rng=rng)
        if rng.random() < OWN_STATEMENT_SHARE:
            prompt = statement_prompt(statement.text)
        else:
            prompt = pick(rng, STATEMENT_WORDINGS).format(statement=statement.text)
        claim = (statement.text, statement.is_true)
        return Dialogue(prompt, "T" if statement.is_true else "F", (claim,))
    if kind == "probe":
        domain = load_domain(record.domain)
        count = int(rng.integers(1, MOST_STATEMENTS + 1))
        statements = draw_statements(record, certain_statements(record), count, rng=rng)
        asked = probed(domain, statements, record.key, seed=int(rng.integers(2**31)))
        lines = [f"{n}. {'T' if one.is_true else 'F'}" for n, one in enumerate(statements, 1)]
        question = asked.question
        if by_people:
            question = answered_as(question, label_of(record))
        letter = question.expected_letter
        claims = [(one.text, one.is_true) for one in statements]
        claims += [(text, one == letter) for one, text in question.options.items()]
        return Dialogue(asked.prompt, "\n".join([*lines, letter]), tuple(claims))
    return Dialogue(*draw_decision(record, rng=rng, by_people=by_people))


def _about_rectangle(
    kind: str, record: PictureRecord, objects: Sequence[SeenObject], *, rng: np.random.Generator
) -> Dialogue:
    """Ask about a picture of the calibration: where the rectangle is, or which colour it has."""
    drawn = draw_location(record, objects, rng=rng) if kind == "location" else None
    if drawn is not None:
        return Dialogue(drawn[0], drawn[1], places=drawn[2])
    colour = record.objects[0].label.split()[0]
    others = [name for name in COLOURS if name != colour]
    shown = [colour, *(others[int(n)] for n in rng.permutation(len(others))[:3])]
    options = dict(zip("ABCD", (shown[int(n)] for n in rng.permutation(4)), strict=True))
    letter = next(one for one, name in options.items() if name == colour)
    listed = "\n".join(f"{one}. {name}" for one, name in options.items())
    prompt = f"Which colour has the rectangle?\n{listed}\nAnswer with one letter only."
    return Dialogue(prompt, letter, tuple((f"{one}. {name}", one == letter) for one, name in options.items()))


def prompt_corpus(records: Sequence[PictureRecord], *, rng: np.random.Generator) -> list[str]:
    """Return undisturbed texts of every kind: what the tokenizer learns its words from."""
    texts = []
    for record in records:
        for kind in ("decision", "location", "statement", "probe"):
            dialogue = draw_dialogue(kind, record, record.objects, rng=rng)
            texts += [dialogue.prompt, dialogue.answer]
    for domain in (load_domain(slug) for slug in DOMAIN_SLUGS):
        sentences = [one for c in domain.concepts for one in (c.statement_true, c.statement_false)]
        sentences += [rule.why for rule in domain.rules]
        labels = [*labels_of_domain(domain.slug), *(word for words in SYNONYMS.values() for word in words)]
        sentences += [pick(rng, WORDINGS).format(targets=joined([label])) for label in labels]
        texts += [*sentences, *every_question([domain])] * 4
    return texts
