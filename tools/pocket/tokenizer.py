"""The byte-level tokenizer of the pocket VLM: small, learnt from the prompts, every letter one token.

Coordinates, the parts of a JSON answer and the sentences that every prompt repeats are tokens of their own,
which keeps prompts and answers short enough for CPUs. A sentence with a typing error falls apart into words
and bytes, which training shows too (``spelled``).
"""

import json
from collections.abc import Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from tools.pocket.locating import OWN_STYLE, STEP
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.recognition import (
    QUESTION_HEADING,
    STATEMENTS_HEADING,
    STATEMENTS_REQUEST,
    statement_prompt,
)
from vlmlab.core.suts.prompt_styles import PROMPT_STYLES, TARGETS

SPECIAL_TOKENS = ("<|pad|>", "<|user|>", "<|assistant|>", "<|end|>", "<image>")
LEARNT_TOKENS = 1300
MOST_STATEMENTS = 8
WORDS = r"\b[A-Z]\b|[.:,?()\n]"  # merges never cross these, and an option letter stays alone
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% if m['content'] is string %}{{ m['content'] }}"
    "{% else %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% elif c['type'] == 'text' %}"
    "{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
FIRST_COORDINATES = tuple(str(value) for value in range(0, 1001, STEP))
NEXT_COORDINATES = tuple(f", {value}" for value in range(0, 1001, STEP))
ANSWER_PARTS = ('[{"bbox_2d": [', '], "label": "', '"}, {"bbox_2d": [', '"}]')
NUMBERS = tuple(f"{number}. " for number in range(1, MOST_STATEMENTS + 1))


def repeated_sentences() -> tuple[str, ...]:
    """Return the texts that prompts of the project repeat word for word, each to become one token."""
    found = [f"{STATEMENTS_HEADING}\n", f"\n{QUESTION_HEADING} ", f"\n{STATEMENTS_REQUEST}"]
    for slug in DOMAIN_SLUGS:
        domain = load_domain(slug)
        text = domain.question
        for place in ("{speed}", "{question}", "{options}"):
            text = text.replace(place, "\0")
        found += [part for part in text.split("\0") if part.strip()]
        found += [f") {option}" for option in domain.option_texts.values()]
        found += [f"\n{domain.answer_request}", f"\n{domain.reason_request}"]
    before, after = statement_prompt("\0").split("1. \0")
    found += [before, after]
    for style in (OWN_STYLE, "json_xyxy"):
        found += [part for part in PROMPT_STYLES[style].localization.split(TARGETS) if len(part) > 6]
    return tuple(dict.fromkeys(found))


def build_tokenizer(corpus: Sequence[str], *, learnt: int = LEARNT_TOKENS) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE on a corpus of prompts and add coordinates, answer parts and sentences.

    Args:
        corpus: the texts that merges are learnt from.
        learnt: at most this many tokens are learnt, the 256 bytes and the special ones included.

    Returns:
        A tokenizer with left padding that decodes what it encoded, whatever the text.
    """
    tokenizer = Tokenizer(models.BPE())
    apart = pre_tokenizers.Split(Regex(WORDS), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [apart, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=learnt,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    known = repeated_sentences()
    tokenizer.train_from_iterator((_without(text, known) for text in corpus), trainer)
    parts = (*FIRST_COORDINATES, *NEXT_COORDINATES, *ANSWER_PARTS, *NUMBERS)
    tokenizer.add_tokens([AddedToken(one, normalized=False) for one in (*parts, *known)])
    return wrapped(tokenizer)


def _without(text: str, known: Sequence[str]) -> str:
    for one in known:
        text = text.replace(one, "\n")
    return text


def spelled(tokenizer: PreTrainedTokenizerFast) -> Tokenizer:
    """Return the same tokens without whole sentences, so that sentences are read in words.

    Args:
        tokenizer: as ``build_tokenizer`` made it.
    """
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    known = set(repeated_sentences())
    state["added_tokens"] = [one for one in state["added_tokens"] if one["content"] not in known]
    return Tokenizer.from_str(json.dumps(state))


def wrapped(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """Return a bare tokenizer as the class that processors work with, with left padding."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        eos_token="<|end|>",
        additional_special_tokens=["<|user|>", "<|assistant|>", "<image>"],
        padding_side="left",
        extra_special_tokens={"image_token": "<image>"},
        clean_up_tokenization_spaces=False,
    )


def coordinate_rows(tokenizer: PreTrainedTokenizerFast) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of both rows of coordinates' tokens; short ones are learnt words, out of the row."""
    first, following = (
        tuple(int(tokenizer.convert_tokens_to_ids(one)) for one in row)
        for row in (FIRST_COORDINATES, NEXT_COORDINATES)
    )
    return first, following
