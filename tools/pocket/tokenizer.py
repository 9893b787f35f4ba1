"""The byte-level tokenizer of the pocket VLM: small, learnt from the prompts, every letter one token."""

from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

SPECIAL_TOKENS = ("<|pad|>", "<|user|>", "<|assistant|>", "<|end|>", "<image>")
VOCABULARY_SIZE = 896
CLAUSE_ENDS = r"\b[A-Z]\b|[.:,?()\n]"  # merges never cross these, and an option letter stays alone
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% if m['content'] is string %}{{ m['content'] }}"
    "{% else %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% elif c['type'] == 'text' %}"
    "{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def build_tokenizer(
    corpus: Sequence[str], *, vocabulary_size: int = VOCABULARY_SIZE
) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE on a corpus of prompts; whole clauses may become one token.

    A prompt that is seen often is a handful of tokens, which is what makes training on CPUs affordable; a
    typing error breaks a clause into small pieces, which training shows too.

    Args:
        corpus: the texts that merges are learnt from.
        vocabulary_size: at most this many tokens, the 256 bytes and the special ones included.

    Returns:
        A tokenizer with left padding that decodes what it encoded, whatever the text.
    """
    tokenizer = Tokenizer(models.BPE())
    clauses = pre_tokenizers.Split(Regex(CLAUSE_ENDS), "isolated")
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([clauses, whole])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    return wrapped(tokenizer)


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
