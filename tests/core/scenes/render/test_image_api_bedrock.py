"""Pictures from Bedrock's InvokeModel: boto3's real client, stubbed before a socket is opened."""

import base64
import io
import json
import subprocess
import sys

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from tests.patience import PATIENCE_SECONDS
from tests.peers.pictures import drawn
from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_bedrock import BedrockImages, read_picture
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.suts.bedrock import key_parts, new_client
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.remote_params import BedrockParams

NOVA, TITAN = "amazon.nova-canvas-v1:0", "amazon.titan-image-generator-v2:0"
ULTRA, SD35 = "stability.stable-image-ultra-v1:1", "us.stability.sd3-5-large-v1:0"
SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
KEY = f"AKIAIOSFODNN7EXAMPLE:{SECRET}"
PNG = drawn("red", (40, 30))
ENCODED = base64.b64encode(PNG).decode()
PROMPT = PicturePrompt("A cone on a road.", ("text", "logos"))


def settings_of(model, **values):
    return ImageApiParams(provider="bedrock", model=model, **values)


@pytest.fixture(scope="module")
def client():
    return new_client(BedrockParams(model=NOVA, region="us-west-2"), key_parts(KEY))


@pytest.fixture
def stub(client):
    with Stubber(client) as active:
        yield active
        active.assert_no_pending_responses()


@pytest.fixture
def provider_of(client):
    def make(model, **values):
        return BedrockImages(
            settings_of(model, **values),
            BackendContext(api_key=KEY),
            make_client=lambda _params, _key: client,
            now=lambda: 1_800_000_000.0,
        )

    return make


def answer(body):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return {"body": StreamingBody(io.BytesIO(raw), len(raw)), "contentType": "application/json"}


def asked(model, body):
    return {
        "modelId": model,
        "body": json.dumps(body),
        "contentType": "application/json",
        "accept": "application/json",
    }


def amazon(width, height, seed, **config):
    return {
        "taskType": "TEXT_IMAGE",
        "textToImageParams": {"text": PROMPT.text, "negativeText": "text, logos"},
        "imageGenerationConfig": {
            "numberOfImages": 1, "width": width, "height": height, "cfgScale": 5.0, "seed": seed, **config,
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("model", "values", "body"),
    [
        (NOVA, {"quality": "premium"}, amazon(1184, 896, 858_993_467 % 858_993_460, quality="premium")),
        (NOVA, {"size": "exact"}, amazon(448, 336, 7)),
        (TITAN, {}, amazon(1152, 896, 858_993_467)),
        (
            ULTRA,
            {},
            {
                "prompt": PROMPT.whole, "aspect_ratio": "5:4", "output_format": "png", "seed": 858_993_467,
            },
        ),
        (
            SD35,
            {},
            {
                "prompt": PROMPT.text, "aspect_ratio": "5:4", "output_format": "png", "seed": 858_993_467,
                "mode": "text-to-image", "negative_prompt": "text, logos",
            },
        ),
    ],
)  # fmt: skip
def test_each_family_is_asked_in_its_own_words_and_gets_the_seed(stub, provider_of, model, values, body):
    stub.add_response("invoke_model", answer({"images": [ENCODED]}), asked(model, body))

    made = provider_of(model, **values).make(PROMPT, width=448, height=336, seed=858_993_467)

    assert (made.content, made.model) == (PNG, model)


@pytest.mark.parametrize(
    ("model", "body", "words"),
    [
        (
            ULTRA,
            {"images": [], "finish_reasons": ["Filter reason: prompt"], "seeds": []},
            "Filter reason: prompt",
        ),
        (ULTRA, {"images": [ENCODED], "finish_reasons": ["Filter reason: output image"]}, "output image"),
        (
            NOVA,
            {"images": [], "error": "All pictures were blocked by our filters."},
            "blocked by our filters",
        ),
    ],
)
def test_a_filtered_answer_is_a_refusal_that_says_why(stub, provider_of, model, body, words):
    stub.add_response("invoke_model", answer(body))

    with pytest.raises(CallFailure) as failure:
        provider_of(model).make(PROMPT, width=40, height=30, seed=1)

    assert (failure.value.kind, words in failure.value.message) == ("filtered", True)


@pytest.mark.parametrize(
    ("code", "said", "kind", "is_retryable"),
    [
        ("ValidationException", "This request has been blocked by our content filters.", "filtered", False),
        ("ValidationException", "width must be a multiple of 16", "request", False),
        ("ThrottlingException", "Too many requests", "rate_limit", True),
        ("AccessDeniedException", f"No access with {SECRET}", "key", False),
        ("ResourceNotFoundException", "This model version has reached the end of its life.", "model", False),
    ],
)
def test_errors_of_aws_have_their_kind_and_no_key(stub, provider_of, code, said, kind, is_retryable):
    stub.add_client_error("invoke_model", code, said, 400)

    with pytest.raises(CallFailure) as failure:
        provider_of(NOVA).make(PROMPT, width=40, height=30, seed=1)

    assert (failure.value.kind, failure.value.is_retryable) == (kind, is_retryable)
    assert SECRET not in failure.value.message


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"no json", "not_json"),
        (b"[1]", "not_json"),
        (b"{}", "not_json"),
        (b'{"images": []}', "not_json"),
        (b'{"images": [7]}', "not_json"),
        (b'{"images": ["QUJDQ"]}', "not_json"),
        (b'{"images": [], "finish_reasons": ["Inference error"]}', "server"),
        (b"x" * 16_000_001, "too_large"),
        (json.dumps({"images": ["A" * 16_000_100]}).encode()[:16_000_000], "not_json"),
    ],
)
def test_answers_without_a_picture_have_their_kind(raw, kind):
    with pytest.raises(CallFailure) as failure:
        read_picture(raw, model=NOVA)

    assert failure.value.kind == kind


def test_a_key_that_an_answer_repeats_is_taken_out(stub, provider_of):
    stub.add_response("invoke_model", answer({"images": [], "error": f"denied for {SECRET}"}))

    with pytest.raises(CallFailure) as failure:
        provider_of(NOVA).make(PROMPT, width=40, height=30, seed=1)

    assert "denied for [key removed]" in failure.value.message


def test_models_of_other_families_and_keys_of_other_forms_are_refused():
    with pytest.raises(ConfigError) as unknown:
        BedrockImages(settings_of("anthropic.claude-haiku-4-5"), BackendContext())
    with pytest.raises(ConfigError) as odd_name:
        BedrockImages(settings_of(f"{NOVA}="), BackendContext())
    with pytest.raises(SutError) as odd_key:
        BedrockImages(settings_of(NOVA), BackendContext(api_key="sk-no-colon"))

    assert (unknown.value.field, odd_name.value.field, odd_key.value.field) == ("model", "model", "api_key")


def test_longest_prompts_are_those_of_the_documentation():
    limits = [
        BedrockImages(settings_of(model), BackendContext()).most_characters for model in (NOVA, TITAN, ULTRA)
    ]

    assert limits == [1024, 512, 10_000]


def test_making_a_provider_imports_no_boto3():
    code = (
        "import sys\n"
        "from vlmlab.core.scenes.render.image_api import load_image_api\n"
        "from vlmlab.core.scenes.render.image_api_params import ImageApiParams\n"
        "from vlmlab.core.scenes.render.backend_kinds import BackendContext\n"
        "from vlmlab.core.scenes.catalogue import load_domain\n"
        f"params = ImageApiParams(provider='bedrock', model='{NOVA}')\n"
        "load_image_api(load_domain('driving'), params, BackendContext(), width=40, height=30)\n"
        "print([name for name in ('boto3', 'torch', 'diffusers', 'transformers') if name in sys.modules])\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )

    assert ran.stdout.strip() == "[]"
