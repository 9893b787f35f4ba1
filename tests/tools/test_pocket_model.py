"""The pocket VLM as a Hugging Face folder."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForImageTextToText

from tests.tools.pocket_parts import SMALL
from tools.pocket.model import (
    PocketShape,
    build_model,
    build_processor,
    place_codes,
    save_checkpoint,
)
from tools.pocket.packing import Packer

PROMPT = "What now?\nA) Stop\nB) Go"


@pytest.fixture
def model(pocket_tokenizer):
    torch.manual_seed(0)
    return build_model(pocket_tokenizer, SMALL)


def inputs_of(processor):
    text = processor.apply_chat_template(
        [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": PROMPT}]}],
        add_generation_prompt=True,
    )
    picture = np.full((40, 50, 3), 90, np.uint8)
    return processor(text=text, images=picture, return_tensors="pt")


def loaded(folder):
    return AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)


def test_a_saved_model_answers_alike_after_loading(model, pocket_tokenizer, tmp_path):
    processor = build_processor(pocket_tokenizer, SMALL)
    save_checkpoint(model, processor, tmp_path)
    inputs = inputs_of(processor)

    again = loaded(tmp_path)
    model.eval()
    with torch.no_grad():
        first, second = (one(**inputs).logits[0, -1] for one in (model, again))

    assert again.dtype == torch.float32
    assert not again.training
    assert all(
        value.to(torch.bfloat16).float().equal(again.state_dict()[name])
        for name, value in model.state_dict().items()
        if value.is_floating_point()
    )
    assert (first - second).abs().max() < 0.1 * first.std()
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_the_processor_writes_a_prompt_as_training_packs_it(pocket_tokenizer):
    packer = Packer(pocket_tokenizer, image_tokens=SMALL.grid**2)

    inputs = inputs_of(build_processor(pocket_tokenizer, SMALL))

    encoded = pocket_tokenizer.backend_tokenizer.encode(PROMPT).ids
    assert inputs["input_ids"][0].tolist() == [*packer.prefix, *encoded, *packer.suffix]
    assert inputs["pixel_values"].shape == (1, 3, 32, 32)
    assert inputs["pixel_values"].unique().tolist() == pytest.approx([90 / 127.5 - 1.0], abs=1e-6)


def test_a_model_can_be_trained_and_saved_after_it_was_evaluated(model, pocket_tokenizer, tmp_path):
    processor = build_processor(pocket_tokenizer, SMALL)
    inputs = inputs_of(processor)
    model.eval()
    with torch.no_grad():
        model(**inputs)

    model.train()
    model(**inputs).logits.mean().backward()
    biases = [value.grad for name, value in model.named_parameters() if "attention_biases" in name]
    model.eval()
    with torch.no_grad():
        model(**inputs)
    save_checkpoint(model, processor, tmp_path)

    assert biases
    assert all(float(grad.abs().sum()) > 0.0 for grad in biases)
    with torch.no_grad():
        assert loaded(tmp_path)(**inputs).logits.isfinite().all()


def test_the_activation_is_one_kernel_and_the_usual_tanh_form(model):
    values = torch.linspace(-3, 3, 13, requires_grad=True)
    acts = [model.model.language_model.h[0].mlp.act, model.model.multi_modal_projector.act]

    for act in acts:
        found = act(values)
        assert found.grad_fn.name() == "GeluBackward0"
        cubic = values + 0.044715 * values**3
        expected = 0.5 * values * (1 + torch.tanh((2 / torch.pi) ** 0.5 * cubic))
        assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def test_one_image_token_stands_for_each_cell():
    assert PocketShape().grid == 10
    assert (SMALL.grid, place_codes(2, 16).shape) == (2, (4, 16))
    assert len({tuple(row) for row in place_codes(3, 16).tolist()}) == 9
