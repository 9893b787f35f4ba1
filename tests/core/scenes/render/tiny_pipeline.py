"""A text-to-image pipeline of a few thousand random weights, written as diffusers writes a real one."""

import json
from pathlib import Path

MOST_TOKENS = 2000  # letters, one a token


def save_tiny_pipeline(folder: Path) -> None:
    """Write a pipeline of Stable Diffusion's shape; the same weights each time."""
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    torch.manual_seed(0)
    unet = UNet2DConditionModel(
        block_out_channels=(4, 8), layers_per_block=1, sample_size=8, in_channels=4, out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=8, norm_num_groups=2, attention_head_dim=2,
    )  # fmt: skip
    vae = AutoencoderKL(
        block_out_channels=(4, 8), in_channels=3, out_channels=3, latent_channels=4, norm_num_groups=2,
        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
    )  # fmt: skip
    config = CLIPTextConfig(
        bos_token_id=0, eos_token_id=1, pad_token_id=1, hidden_size=8, intermediate_size=16,
        num_attention_heads=2, num_hidden_layers=1, vocab_size=200, max_position_embeddings=MOST_TOKENS,
    )  # fmt: skip
    pipeline = StableDiffusionPipeline(
        vae=vae,
        text_encoder=CLIPTextModel(config),
        tokenizer=CLIPTokenizer.from_pretrained(
            _words(folder.parent / "words"), model_max_length=MOST_TOKENS
        ),
        unet=unet,
        scheduler=DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_pretrained(folder, safe_serialization=True)


def _words(folder: Path) -> Path:
    """Write a tokenizer that knows single letters."""
    folder.mkdir(parents=True)
    names = ["<|startoftext|>", "<|endoftext|>"]
    for letter in "abcdefghijklmnopqrstuvwxyz0123456789.,:;()-":
        names += [letter, f"{letter}</w>"]
    (folder / "vocab.json").write_text(json.dumps({name: number for number, name in enumerate(names)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return folder
