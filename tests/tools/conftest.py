"""What the tests of the pocket VLM's tools share: a tokenizer that is learnt once, from few texts."""

import pytest


@pytest.fixture(scope="session")
def pocket_tokenizer():
    """Return a tokenizer of the pocket VLM, learnt from the prompts about 200 imagined scenes."""
    from tools.pocket.imagined import imagined_record
    from tools.pocket.tokenizer import build_tokenizer
    from tools.pocket.wordings import prompt_corpus
    from vlmlab.core.seeding import rng_for

    rng = rng_for(1, "corpus")
    return build_tokenizer(prompt_corpus([imagined_record(rng) for _ in range(200)], rng=rng))
