"""Builds and saves the pocket VLM: stock Hugging Face classes in small sizes."""

import copy
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import (
    GPT2Config,
    LevitConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

from tools.pocket.packing import token_id
from tools.pocket.tokenizer import CHAT_TEMPLATE

CELL_PIXELS = 16
ACTIVATION = "gelu_pytorch_tanh"
"""The one GELU that is a single kernel in torch; GPT-2's own costs a fifth of a pass on CPUs."""


@dataclass(frozen=True)
class PocketShape:
    """Sizes of the model; ``image_size`` is the side of its square input in pixels."""

    image_size: int = 160
    vision_width: int = 192
    vision_depth: int = 4
    vision_heads: int = 6
    text_width: int = 128
    text_depth: int = 4
    text_heads: int = 4
    text_inner: int = 384
    text_positions: int = 1024

    @property
    def grid(self) -> int:
        """Cells along each side; each cell is one image token."""
        return self.image_size // CELL_PIXELS


def build_model(tokenizer: PreTrainedTokenizerFast, shape: PocketShape) -> LlavaForConditionalGeneration:
    """Return an untrained pocket VLM.

    LeViT's stem reduces the picture 16 times, one attention stage follows and no down-sampling; the two extra
    keys of its configuration are what LLaVA asks of a tower. Word, position and image-code scales are set to
    about 0.1 to 0.3 so that none of them drowns the others at step 0.
    """
    vision = LevitConfig(
        image_size=shape.image_size,
        patch_size=CELL_PIXELS,
        hidden_sizes=[shape.vision_width, shape.vision_width],
        num_attention_heads=[shape.vision_heads],
        depths=[shape.vision_depth],
        key_dim=[16],
        mlp_ratio=[2],
        attention_ratio=[2],
        output_hidden_states=True,
    )
    vision.down_ops = []
    vision.hidden_size = shape.vision_width
    text = GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=shape.text_width,
        n_inner=shape.text_inner,
        n_layer=shape.text_depth,
        n_head=shape.text_heads,
        n_positions=shape.text_positions,
        activation_function=ACTIVATION,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=token_id(tokenizer, "<image>"),
        image_seq_length=shape.grid**2,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        projector_hidden_act=ACTIVATION,
        tie_word_embeddings=False,
    )
    model = LlavaForConditionalGeneration(config)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    with torch.no_grad():
        language = model.model.language_model
        language.wte.weight.normal_(0.0, 0.2)
        language.wpe.weight.normal_(0.0, 0.05)
        language.wpe.weight[1 : 1 + shape.grid**2] += 0.1 * place_codes(shape.grid, shape.text_width)
    return model


def place_codes(grid: int, width: int) -> torch.Tensor:
    """Return ``(grid * grid, width)`` sines and cosines of the row and the column of each cell."""
    centres = (torch.arange(grid) + 0.5) / grid
    across, down = centres.repeat(grid)[:, None], centres.repeat_interleave(grid)[:, None]
    waves = torch.pi * torch.linspace(0.5, 5.0, width // 4)[None]
    parts = [
        torch.sin(across * waves),
        torch.cos(across * waves),
        torch.sin(down * waves),
        torch.cos(down * waves),
    ]
    return torch.cat(parts, dim=1)


def build_processor(tokenizer: PreTrainedTokenizerFast, shape: PocketShape) -> LlavaProcessor:
    """Return the processor; its image half needs Pillow only, never torchvision."""
    pictures = SiglipImageProcessorPil(
        size={"height": shape.image_size, "width": shape.image_size},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
        do_convert_rgb=True,
    )
    return LlavaProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        patch_size=CELL_PIXELS,
        vision_feature_select_strategy="full",
        chat_template=CHAT_TEMPLATE,
        image_token="<image>",
        num_additional_image_tokens=0,
    )


def save_checkpoint(model: LlavaForConditionalGeneration, processor: LlavaProcessor, folder: Path) -> None:
    """Write model (bfloat16 safetensors) and processor as an ordinary Hugging Face folder."""
    folder.mkdir(parents=True, exist_ok=True)
    processor.save_pretrained(folder)
    model.train()  # LeViT caches attention biases when it is evaluated; training mode drops the cache
    copy.deepcopy(model).bfloat16().save_pretrained(folder)
