"""Ready-made registrations of the models that people test most, so that nobody looks up a convention."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

_Asking = dict[str, JsonValue]

VLLM, SGLANG = "http://127.0.0.1:8000/v1", "http://127.0.0.1:30000/v1"
OLLAMA, LLAMA_CPP = "http://127.0.0.1:11434/v1", "http://127.0.0.1:8080/v1"

OWN_PRICE = "Enter your contract's price."
CALIBRATE = "Its coordinates are not documented: calibrate it before you trust a box."
SERVER = "Start the server yourself and have its address allowed in VLMLAB_ENDPOINT_ALLOW."


@dataclass(frozen=True)
class SutPreset:
    """A filled-in registration.

    Attributes:
        name: key in ``SUT_PRESETS``.
        title: for people.
        family: group of the register page.
        kind: key of ``SUT_KINDS``.
        params: valid settings of the kind.
        note: what a person should know before using it.
        source: where its convention, name and price stand, and when they were read.
    """

    name: str
    title: str
    family: str
    kind: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    note: str = ""
    source: str = ""


def _asking(style: str, **convention: JsonValue) -> _Asking:
    return {"prompt_style": style, "convention": dict(convention)}


_QWEN = _asking("json_0_1000", scale=1000, syntax="json", keys=["bbox_2d"])
_INTERNVL = _asking("ref_box", scale=1000, syntax="ref_box")
_GLM = _asking("begin_of_box", scale=1000, syntax="begin_of_box", keys=["bbox_2d"])
_KIMI = _asking("json_0_1", scale=1, syntax="json", keys=["bbox_2d"])
_DEEPSEEK = _asking("ref_det", scale=999, syntax="ref_det")
_GEMINI = _asking("gemini", scale=1000, order="yxyx", syntax="json", keys=["box_2d"])
_PIXELS = _asking("json_pixels", space="seen_pixels", scale=None, syntax="json", keys=["bbox_2d"])
_MOONDREAM = _asking("named", scale=1, syntax="json_named", keys=["x_min", "y_min", "x_max", "y_max"])
_FLORENCE = _asking("florence", scale=1000, bin_offset=0.5, syntax="loc")
_PALIGEMMA = _asking("paligemma", scale=1024, order="yxyx", syntax="loc4")
_COGVLM = _asking("double_bracket", scale=1000, syntax="double_bracket")

_NO_TEMPLATE = "Give the server a chat template that passes the text on as it stands."
_CONVENTION = "Convention: the lab's table of families; name: the model's page on Hugging Face"


def _local(
    name: str, title: str, checkpoint: str, *, asking: _Asking, note: str, tokens: int = 512
) -> SutPreset:
    """Return a checkpoint of the hub that the installed transformers loads by itself."""
    params: dict[str, JsonValue] = {
        "checkpoint": checkpoint,
        "source": "hub",
        "max_new_tokens": tokens,
        "asking": asking,
    }
    return SutPreset(
        name,
        title,
        "Open weights on this machine",
        "transformers_local",
        params,
        f"{note} Enter a commit as the revision, so that nobody changes the weights under you.",
        _CONVENTION,
    )


def _served(
    name: str,
    title: str,
    model: str,
    *,
    asking: _Asking,
    note: str,
    address: str = VLLM,
    tokens: int = 1024,
    family: str = "Open weights on a server",
) -> SutPreset:
    """Return a model behind a server that speaks OpenAI's protocol, greedy."""
    params: dict[str, JsonValue] = {
        "model": model,
        "base_url": address,
        "temperature": 0.0,
        "max_output_tokens": tokens,
        "asking": asking,
    }
    return SutPreset(name, title, family, "openai_chat", params, f"{note} {SERVER}", _CONVENTION)


def _gemini_flash(level: str, tokens: int) -> SutPreset:
    params: dict[str, JsonValue] = {
        "model": "gemini-3-flash-preview",
        "thinking": level,
        "max_output_tokens": tokens,
        "asking": _GEMINI,
    }
    return SutPreset(
        f"gemini_3_flash_{level}",
        f"Gemini 3 Flash, thinking {level}",
        "Google Gemini",
        "gemini",
        params,
        "Boxes are 0-1000 with y before x. Google advises against a temperature for Gemini 3. It answers for "
        "some retired models with their successor: see which model answered before you compare. "
        f"{OWN_PRICE}",
        "ai.google.dev, pages on thinking and deprecations, read November 2026",
    )


def _claude(name: str, title: str, model: str, *, prices: tuple[float, float], page: str) -> SutPreset:
    params: dict[str, JsonValue] = {
        "model": model,
        "api_version": "2023-06-01",
        "temperature": 0.0,
        "thinking": "off",
        "input_price_usd": prices[0],
        "output_price_usd": prices[1],
        "asking": _PIXELS,
    }
    return SutPreset(
        name,
        title,
        "Anthropic",
        "anthropic",
        params,
        "Boxes are pixels of the picture as it is sent, which is kept below the size that Anthropic scales "
        "down. Temperature 0 needs version 2023-06-01 of the API. The price is the list price; enter "
        "your contract's price.",
        f"{page}, read November 2026",
    )


def _bedrock(name: str, title: str, model: str) -> SutPreset:
    params: dict[str, JsonValue] = {
        "model": model,
        "temperature": 0.0,
        "thinking": "off",
        "asking": _PIXELS,
    }
    return SutPreset(
        name,
        title,
        "Amazon Bedrock",
        "bedrock",
        params,
        "The id is an inference profile of the United States; write eu., jp. or global. in front for others, "
        f"and ask for access to the model in the AWS console first. {OWN_PRICE}",
        "docs.aws.amazon.com, Bedrock model ids, read November 2026",
    )


_LOCAL = (
    _local(
        "qwen3_vl_4b",
        "Qwen3-VL-4B-Instruct",
        "Qwen/Qwen3-VL-4B-Instruct",
        asking=_QWEN,
        note="Boxes are 0-1000.",
    ),
    _local(
        "internvl3_5_8b",
        "InternVL3.5-8B",
        "OpenGVLab/InternVL3_5-8B-HF",
        asking=_INTERNVL,
        note="The -HF edition; the other one needs code of its own. Boxes are 0-1000.",
    ),
    _local(
        "gemma_3_4b",
        "Gemma-3-4b-it",
        "google/gemma-3-4b-it",
        asking=_GEMINI,
        note=f"{CALIBRATE} The preset guesses Gemini's 0-1000 with y before x.",
    ),
    _local(
        "glm_4_6v_flash",
        "GLM-4.6V-Flash",
        "zai-org/GLM-4.6V-Flash",
        asking=_GLM,
        note="It thinks before it answers, so replies are long. Boxes are 0-1000.",
        tokens=4096,
    ),
)

_SERVED = (
    _served(
        "kimi_vl_a3b",
        "Kimi-VL-A3B-Instruct",
        "moonshotai/Kimi-VL-A3B-Instruct",
        asking=_KIMI,
        note="transformers does not load it by itself: serve it with vLLM. Boxes are 0-1.",
    ),
    _served(
        "nemotron_3_nano_omni_30b",
        "Nemotron 3 Nano Omni 30B",
        "nvidia/Nemotron-3-Nano-Omni-30B-A3B-Reasoning-BF16",
        asking=_QWEN,
        note=f"Serve it with vLLM or SGLang. {CALIBRATE} The preset guesses 0-1000. It thinks in its reply.",
        tokens=4096,
    ),
    _served(
        "deepseek_vl2_tiny",
        "DeepSeek-VL2-Tiny",
        "deepseek-ai/deepseek-vl2-tiny",
        asking=_DEEPSEEK,
        note=(
            "transformers does not load it: serve it with vLLM and "
            """--hf-overrides '{"architectures": ["DeepseekVLV2ForCausalLM"]}'. Boxes are 0-999."""
        ),
    ),
    _served(
        "qwen3_vl_235b",
        "Qwen3-VL-235B-A22B-Instruct",
        "Qwen/Qwen3-VL-235B-A22B-Instruct",
        asking=_QWEN,
        note="Too large for one GPU: serve it with vLLM. Boxes are 0-1000.",
    ),
    _served(
        "paligemma_2",
        "PaliGemma 2 mix",
        "google/paligemma2-3b-mix-448",
        asking=_PALIGEMMA,
        note=f"Boxes are location tokens out of 1024, y before x. {_NO_TEMPLATE}",
    ),
    _served(
        "florence_2",
        "Florence-2",
        "microsoft/Florence-2-large-ft",
        asking=_FLORENCE,
        note=f"Boxes are centres of 1000 bins. It takes task words, no questions. {_NO_TEMPLATE}",
    ),
    _served(
        "moondream",
        "Moondream",
        "vikhyatk/moondream2",
        asking=_MOONDREAM,
        note="transformers does not load it by itself; any server that speaks OpenAI's protocol does. 0-1.",
    ),
    _served(
        "cogvlm",
        "CogVLM",
        "zai-org/cogvlm2-llama3-chat-19B",
        asking=_COGVLM,
        note="Boxes are 0-1000 in double brackets, without labels.",
    ),
)

_ANY_MODEL = "Enter the model that your server names and the convention that its authors document."


def _server(name: str, title: str, model: str, *, address: str) -> SutPreset:
    return _served(
        name, title, model, asking=_QWEN, note=_ANY_MODEL, address=address, family="Any model on a server"
    )


_SERVERS = (
    _server("vllm", "vLLM server", "Qwen/Qwen3-VL-8B-Instruct", address=VLLM),
    _server("sglang", "SGLang server", "Qwen/Qwen3-VL-8B-Instruct", address=SGLANG),
    _server("ollama", "Ollama", "qwen3-vl:8b", address=OLLAMA),
    _server("llama_cpp", "llama.cpp server", "default", address=LLAMA_CPP),
    _server("transformers_serve", "transformers serve", "Qwen/Qwen3-VL-4B-Instruct", address=VLLM),
    SutPreset(
        "openai",
        "OpenAI",
        "OpenAI",
        "openai_chat",
        {
            "model": "gpt-5.2",
            "token_limit_name": "max_completion_tokens",
            "max_output_tokens": 4096,
            "max_image_side": 768,
            "asking": _PIXELS,
        },
        "Boxes are pixels of the picture as it is sent, which is kept below the size that OpenAI scales "
        "down; calibrate it all the same. Reasoning models take no temperature. Enter the model you use. "
        f"{OWN_PRICE}",
        "Convention: the lab's table of families",
    ),
)

_PROVIDERS = (
    _gemini_flash("minimal", 2048),
    _gemini_flash("low", 4096),
    _gemini_flash("medium", 8192),
    _gemini_flash("high", 16_384),
    _claude(
        "claude_sonnet_4_6",
        "Claude Sonnet 4.6",
        "claude-sonnet-4-6",
        prices=(3.0, 15.0),
        page="platform.claude.com, overview of Claude Sonnet 4.6",
    ),
    _claude(
        "claude_haiku_4_5",
        "Claude Haiku 4.5",
        "claude-haiku-4-5-20251001",
        prices=(1.0, 5.0),
        page="platform.claude.com, overview of Claude Haiku 4.5",
    ),
    _bedrock("bedrock_claude_sonnet_4_6", "Claude Sonnet 4.6 on Bedrock", "us.anthropic.claude-sonnet-4-6"),
    _bedrock(
        "bedrock_claude_haiku_4_5",
        "Claude Haiku 4.5 on Bedrock",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    ),
)

SUT_PRESETS: dict[str, SutPreset] = {
    preset.name: preset for preset in (*_LOCAL, *_SERVED, *_SERVERS, *_PROVIDERS)
}
