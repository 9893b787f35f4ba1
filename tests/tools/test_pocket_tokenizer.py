"""The pocket VLM's tokenizer: any text comes back, letters and coordinates are whole, prompts are short."""

import numpy as np
import pytest

from tests.tools.pocket_parts import record, seen
from tools.pocket.imagined import imagined_record
from tools.pocket.locating import absent_labels, box_answer, own_prompt
from tools.pocket.tokenizer import (
    ANSWER_PARTS,
    FIRST_COORDINATES,
    NEXT_COORDINATES,
    SPECIAL_TOKENS,
    repeated_sentences,
    spelled,
    wrapped,
)
from tools.pocket.wordings import draw_dialogue
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.scenes.recognition import ask_with_statements, statement_prompt
from vlmlab.core.seeding import rng_for


def pieces(tokenizer, text):
    return tokenizer.convert_ids_to_tokens(tokenizer.backend_tokenizer.encode(text).ids)


@pytest.mark.parametrize(
    "text",
    [
        "A) Stop.\nB) Ça va?",
        "  two  spaces \t tab\r\n",
        "日本 🚗",
        "Locate the cylcist.",
        "",
        "100, 200",
        '[{"bbox_2d": [100, 200, 310, 410], "label": "traffic cone"}]',
        "Find the  cone in the picture",
        "T\nF\n1. T\n10. F",
    ],
)
def test_tokenizer_gives_back_any_text_it_encoded(pocket_tokenizer, text):
    ids = pocket_tokenizer.backend_tokenizer.encode(text).ids

    assert pocket_tokenizer.decode(ids) == text
    assert pocket_tokenizer.convert_tokens_to_ids("<|pad|>") not in ids


def test_prompts_and_answers_of_many_scenes_come_back(pocket_tokenizer):
    rng = rng_for(2, "texts")
    for _ in range(40):
        found = imagined_record(rng)
        for kind in ("decision", "location", "statement", "probe"):
            dialogue = draw_dialogue(kind, found, found.objects, rng=rng)
            for text in (dialogue.prompt, dialogue.answer):
                assert pocket_tokenizer.decode(pocket_tokenizer.backend_tokenizer.encode(text).ids) == text


def test_each_coordinate_of_an_answer_is_one_token(pocket_tokenizer):
    answer = box_answer([seen("cone", box=(0.1, 0.2, 0.31, 1.0)), seen("cyclist", box=(0.0, 0.0, 0.05, 0.5))])

    tokens = pieces(pocket_tokenizer, answer)

    numbers = ["100", ", 200", ", 310", ", 1000", "0", ", 0", ", 50", ", 500"]
    assert [token for token in tokens if token in FIRST_COORDINATES + NEXT_COORDINATES] == numbers
    assert tokens[0] == ANSWER_PARTS[0] == '[{"bbox_2d": ['
    assert tokens[5] == '], "label": "'
    assert '"}, {"bbox_2d": [' in tokens
    assert tokens[-1] == '"}]'


def test_following_coordinates_stand_in_a_row_so_that_their_distance_is_a_number_of_steps(pocket_tokenizer):
    numbers = np.array(pocket_tokenizer.convert_tokens_to_ids(list(NEXT_COORDINATES)))

    assert len(FIRST_COORDINATES) == len(NEXT_COORDINATES) == 101
    assert np.diff(numbers).tolist() == [1] * 100


def test_option_letters_are_tokens_of_their_own_in_real_prompts(pocket_tokenizer):
    letters = pocket_tokenizer.convert_tokens_to_ids(list("ABCD"))
    prompt = ask_question(load_domain("driving"), ("cone",), seed=4).prompt

    ids = pocket_tokenizer.backend_tokenizer.encode(prompt).ids

    assert len(set(letters)) == 4
    assert [number for number in ids if number in letters] == letters[:3]
    for sign in "ABCDTF":
        assert len(pocket_tokenizer.backend_tokenizer.encode(sign).ids) == 1


def test_own_prompts_are_short(pocket_tokenizer):
    driving, indoor = load_domain("driving"), load_domain("indoor")

    lengths = {
        "driving": len(pieces(pocket_tokenizer, ask_question(driving, ("cone",), seed=1).prompt)),
        "indoor": len(pieces(pocket_tokenizer, ask_question(indoor, ("knife_edge",), seed=1).prompt)),
        "one box": len(pieces(pocket_tokenizer, own_prompt(["traffic cone"]))),
        "statement": len(pieces(pocket_tokenizer, statement_prompt("There is thick fog."))),
        "probe": len(pieces(pocket_tokenizer, ask_with_statements(driving, ("cone",), seed=1).prompt)),
    }

    assert lengths["driving"] <= 16
    assert lengths["indoor"] <= 24
    assert lengths["one box"] <= 8
    assert lengths["statement"] <= 14
    assert lengths["probe"] <= 48


def test_labels_that_may_be_asked_for_need_few_tokens(pocket_tokenizer):
    labels = [one for slug in ("driving", "indoor") for one in absent_labels(record_without_things(slug))]

    assert len(labels) > 25
    assert max(len(pieces(pocket_tokenizer, own_prompt([label]))) for label in labels) <= 12


def record_without_things(slug):
    return record("driving", "light_green") if slug == "driving" else record("indoor", "smoke", "stove_on")


def test_spelled_prompts_are_the_same_text_without_whole_sentences(pocket_tokenizer):
    bare = spelled(pocket_tokenizer)
    prompt = ask_question(load_domain("driving"), ("cone",), seed=1).prompt

    ids = bare.encode(prompt).ids

    assert pocket_tokenizer.decode(ids) == prompt
    assert bare.decode(ids) == prompt
    assert set(pocket_tokenizer.convert_ids_to_tokens(ids)).isdisjoint(repeated_sentences())
    assert set(bare.get_vocab()).isdisjoint(repeated_sentences())
    assert len(ids) > 3 * len(pieces(pocket_tokenizer, prompt))


def test_spelling_keeps_the_number_of_every_other_token(pocket_tokenizer):
    known = set(repeated_sentences())
    whole = {token: n for token, n in pocket_tokenizer.get_vocab().items() if token not in known}

    assert spelled(pocket_tokenizer).get_vocab() == whole


def test_repeated_sentences_are_one_token_each_and_stand_once(pocket_tokenizer):
    sentences = repeated_sentences()

    assert len(sentences) == len(set(sentences))
    assert [len(pocket_tokenizer.backend_tokenizer.encode(text).ids) for text in sentences] == [1] * len(
        sentences
    )


def test_the_wrapped_tokenizer_pads_left_and_knows_its_special_tokens(pocket_tokenizer):
    again = wrapped(pocket_tokenizer.backend_tokenizer)

    assert again.padding_side == "left"
    assert (again.pad_token, again.eos_token) == ("<|pad|>", "<|end|>")
    assert [again.convert_tokens_to_ids(token) for token in SPECIAL_TOKENS] == [0, 1, 2, 3, 4]
