"""Tiny checkpoints with random weights, saved in the ordinary folder format."""

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3Processor,
    GPT2Config,
    InternVLConfig,
    InternVLForConditionalGeneration,
    LevitConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    SmolVLMConfig,
    SmolVLMForConditionalGeneration,
)
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil
from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

CORPUS = ["What should the driver do? A. Stop B. Slow down C. Continue. Answer with the letter."] * 20
_TURN = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% if m['content'] is string %}{{ m['content'] }}"
)
_PARTS = (
    "{% else %}{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def template(image: str) -> str:
    return _TURN + _PARTS.replace("IMAGE", image)


def tokenizer(extra: dict[str, str]) -> PreTrainedTokenizerFast:
    special = ["<|pad|>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>", *extra.values()]
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(CORPUS, trainer)
    # Saved with the wrong side on purpose: the adapter must set left padding itself.
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="<|pad|>",
        eos_token="<|end|>",
        padding_side="right",
        extra_special_tokens=extra,
    )


def save_llava(
    folder: Path, *, seed: int = 0, hidden: int = 32, layers: int = 2, **generation: object
) -> Path:
    """LeViT tower of 16 cells and GPT-2 text, as small as the family goes."""
    torch.manual_seed(seed)
    words = tokenizer({"image_token": "<image>"})
    vision = LevitConfig(
        image_size=64, patch_size=16, hidden_sizes=[32, 32], num_attention_heads=[2], depths=[1],
        key_dim=[8], mlp_ratio=[2], attention_ratio=[2], output_hidden_states=True,
    )  # fmt: skip
    vision.down_ops, vision.hidden_size = [], 32
    text = GPT2Config(
        vocab_size=len(words), n_embd=hidden, n_inner=2 * hidden, n_layer=layers, n_head=2,
        n_positions=512, bos_token_id=None, eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id,
        tie_word_embeddings=False, initializer_range=0.5,
    )  # fmt: skip
    config = LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=words.convert_tokens_to_ids("<image>"),
        image_seq_length=16, vision_feature_layer=-1, vision_feature_select_strategy="full",
        tie_word_embeddings=False,
    )  # fmt: skip
    model = LlavaForConditionalGeneration(config)
    for name, value in generation.items():
        setattr(model.generation_config, name, value)
    pictures = SiglipImageProcessorPil(
        size={"height": 64, "width": 64}, image_mean=[0.5] * 3, image_std=[0.5] * 3, do_convert_rgb=True
    )
    processor = LlavaProcessor(
        image_processor=pictures, tokenizer=words, patch_size=16, vision_feature_select_strategy="full",
        chat_template=template("<image>"), image_token="<image>", num_additional_image_tokens=0,
    )  # fmt: skip
    processor.save_pretrained(folder)
    model.to(torch.bfloat16).save_pretrained(folder)
    return folder


def save_gemma3(folder: Path) -> Path:
    torch.manual_seed(1)
    words = tokenizer(
        {"image_token": "<image_soft_token>", "boi_token": "<start_of_image>", "eoi_token": "<end_of_image>"}
    )
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = Gemma3Config(
        text_config={
            **sizes, "vocab_size": len(words), "num_key_value_heads": 1, "head_dim": 16, "sliding_window": 64,
            "max_position_embeddings": 512, "eos_token_id": words.eos_token_id,
            "pad_token_id": words.pad_token_id, "bos_token_id": None,
        },
        vision_config={**sizes, "image_size": 64, "patch_size": 16, "vision_use_head": False},
        mm_tokens_per_image=4,
        image_token_index=words.convert_tokens_to_ids("<image_soft_token>"),
        boi_token_index=words.convert_tokens_to_ids("<start_of_image>"),
        eoi_token_index=words.convert_tokens_to_ids("<end_of_image>"),
    )  # fmt: skip
    processor = Gemma3Processor(
        image_processor=Gemma3ImageProcessorPil(size={"height": 64, "width": 64}),
        tokenizer=words,
        chat_template=template("<start_of_image>"),
        image_seq_length=4,
    )
    processor.save_pretrained(folder)
    Gemma3ForConditionalGeneration(config).save_pretrained(folder)
    return folder


QWEN_TOKENS = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_start_token": "<|vision_start|>",
    "vision_end_token": "<|vision_end|>",
}


def save_qwen3_vl(folder: Path) -> Path:
    """A family whose full processor needs torchvision for video; saved by parts, as on the hub."""
    torch.manual_seed(2)
    words = tokenizer(QWEN_TOKENS)
    config = Qwen3VLConfig(
        text_config={
            **text_sizes(words), "head_dim": 16, "num_key_value_heads": 1,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [4, 2, 2]},
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "patch_size": 16,
            "out_hidden_size": 32, "num_position_embeddings": 16, "deepstack_visual_indexes": [0],
        },
        **qwen_ids(words),
    )  # fmt: skip
    save_qwen_processor(folder, words, patch_size=16)
    Qwen3VLForConditionalGeneration(config).save_pretrained(folder)
    return folder


def save_qwen2_5_vl(folder: Path) -> Path:
    """A family that answers in pixels of the picture as it was scaled for it."""
    torch.manual_seed(3)
    words = tokenizer(QWEN_TOKENS)
    config = Qwen2_5_VLConfig(
        text_config={
            **text_sizes(words), "num_key_value_heads": 1, "bos_token_id": None,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [4, 2, 2]},
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "patch_size": 14,
            "out_hidden_size": 32, "window_size": 56, "fullatt_block_indexes": [1],
        },
        **qwen_ids(words),
    )  # fmt: skip
    save_qwen_processor(folder, words, patch_size=14)
    Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    return folder


def text_sizes(words: PreTrainedTokenizerFast) -> dict[str, object]:
    return {
        "vocab_size": len(words), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": 512, "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
    }  # fmt: skip


def qwen_ids(words: PreTrainedTokenizerFast) -> dict[str, int]:
    return {f"{name}_id": words.convert_tokens_to_ids(token) for name, token in QWEN_TOKENS.items()}


def save_qwen_processor(folder: Path, words: PreTrainedTokenizerFast, *, patch_size: int) -> None:
    words.chat_template = template("<|vision_start|><|image_pad|><|vision_end|>")
    words.save_pretrained(folder)
    Qwen2VLImageProcessorPil(
        patch_size=patch_size, merge_size=2, size={"shortest_edge": 1024, "longest_edge": 16_384}
    ).save_pretrained(folder)


def save_internvl(folder: Path) -> Path:
    """A family that cuts pictures into tiles, each of four tokens; saved by parts."""
    torch.manual_seed(4)
    words = tokenizer(
        {
            "start_image_token": "<img>", "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>", "video_token": "<video>",
        }
    )  # fmt: skip
    config = InternVLConfig(
        text_config={"model_type": "qwen2", **text_sizes(words), "num_key_value_heads": 1,
                     "initializer_range": 0.3},
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": [64, 64], "patch_size": [16, 16],
        },
        image_token_id=words.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
    )  # fmt: skip
    words.chat_template = template("<IMG_CONTEXT>")
    words.save_pretrained(folder)
    GotOcr2ImageProcessorPil(size={"height": 64, "width": 64}, max_patches=4).save_pretrained(folder)
    (folder / "processor_config.json").write_text(
        json.dumps({"processor_class": "InternVLProcessor", "image_seq_length": 4})
    )
    InternVLForConditionalGeneration(config).save_pretrained(folder)
    return folder


def save_smolvlm(folder: Path) -> Path:
    """A family that pads the tiles of a call's pictures to the largest number; saved by parts."""
    torch.manual_seed(5)
    words = tokenizer(
        {
            "image_token": "<image>", "fake_image_token": "<fake_token_around_image>",
            "global_image_token": "<global-img>", "end_of_utterance_token": "<end_of_utterance>",
            "video_token": "<video>",
        }
    )  # fmt: skip
    config = SmolVLMConfig(
        text_config={"model_type": "llama", **text_sizes(words), "num_key_value_heads": 1,
                     "initializer_range": 0.3},
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": 64, "patch_size": 16,
        },
        image_token_id=words.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )  # fmt: skip
    words.chat_template = template("<image>")
    words.save_pretrained(folder)
    SmolVLMImageProcessorPil(size={"longest_edge": 128}, max_image_size={"longest_edge": 64}).save_pretrained(
        folder
    )
    (folder / "processor_config.json").write_text(
        json.dumps({"processor_class": "SmolVLMProcessor", "image_seq_len": 4})
    )
    SmolVLMForConditionalGeneration(config).save_pretrained(folder)
    return folder
