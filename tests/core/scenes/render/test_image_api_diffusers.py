"""Pictures from a pipeline on this machine: a tiny random one, and folders that must not be loaded."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from tests.core.scenes.render.tiny_pipeline import save_tiny_pipeline
from vlmlab.core.errors import GenerationError, SourceAwayError, SutError
from vlmlab.core.images import png_size
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS, load_backend
from vlmlab.core.scenes.render.image_api_diffusers import DiffusersImages, check_diffusers
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.suts.provider import CallFailure

pytestmark = pytest.mark.slow  # importing diffusers takes seconds
PROMPT = PicturePrompt("a cone on a road.", ("text",))
DRIVING = load_domain("driving")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    save_tiny_pipeline(folder / "org" / "tiny")
    return folder


@pytest.fixture
def copy(root, tmp_path):
    shutil.copytree(root / "org" / "tiny", tmp_path / "tiny")
    return tmp_path


def settings_of(model="org/tiny", **values):
    return ImageApiParams(provider="diffusers", model=model, **{"size": "64x48", "steps": 2, **values})


def loaded(model, folder):
    context = BackendContext(model_root=folder)
    return load_backend("image_api", DRIVING, settings_of(model), context, width=60, height=40)


@pytest.fixture(scope="module")
def provider(root):
    return DiffusersImages(settings_of(), BackendContext(model_root=root))


def test_same_seed_draws_the_same_picture_and_another_seed_another(provider):
    first, again, other = (
        provider.make(PROMPT, width=64, height=48, seed=seed).content for seed in (1, 1, 2)
    )

    assert (first == again, first == other, png_size(first)) == (True, False, (64, 48))


def test_the_words_and_what_to_leave_out_change_the_picture(provider):
    plain = provider.make(PROMPT, width=64, height=48, seed=1).content
    other_words = provider.make(PicturePrompt("a bus.", ("text",)), width=64, height=48, seed=1).content
    other_rest = provider.make(PicturePrompt(PROMPT.text, ("fog",)), width=64, height=48, seed=1).content

    assert len({plain, other_words, other_rest}) == 3


def test_a_pipeline_that_reads_few_words_gets_the_short_prompt_and_none_that_it_would_cut(root):
    provider = DiffusersImages(settings_of(), BackendContext(model_root=root))
    short = PicturePrompt("a cone on a road at noon.", ("text",), short="a cone.")
    plain = provider.make(short, width=64, height=48, seed=1).content
    n_tokens = len(provider._pipeline.tokenizer(short.short).input_ids)

    provider._pipeline.tokenizer.model_max_length = n_tokens
    cut = provider.make(short, width=64, height=48, seed=1).content
    provider._pipeline.tokenizer.model_max_length = n_tokens - 1
    with pytest.raises(GenerationError) as error:
        provider.make(short, width=64, height=48, seed=1)

    assert plain != cut
    assert f"reads {n_tokens - 1} tokens" in error.value.message


def test_a_pipeline_is_a_scene_source_whose_identity_holds_its_weights(root, copy):
    key = DRIVING.canonical(("cone",))
    sources = [loaded("org/tiny", root), loaded("tiny", copy)]
    weights = weights_of(copy / "tiny")
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    changed = loaded("tiny", copy)

    scene = sources[0].generate(key, seed=3)

    assert (png_size(scene.image_png), scene.cost_usd) == ((60, 40), 0.0)
    assert (scene.provenance["model"], scene.provenance["answered_by"]) == ("org/tiny", "tiny")
    assert len({source.identity for source in (*sources, changed)}) == 3
    assert weights_in(sources[0]) == weights_in(sources[1]) != weights_in(changed)


def weights_in(source):
    return source.identity.split("weights=")[1].split()[0]


def test_a_pipelines_own_safety_checker_refuses(root):
    provider = DiffusersImages(settings_of(), BackendContext(model_root=root))

    class Checked:
        def __call__(self, prompt, width, height, num_inference_steps, guidance_scale, generator):
            return SimpleNamespace(images=[Image.new("RGB", (64, 48))], nsfw_content_detected=[True])

    provider._pipeline = Checked()
    with pytest.raises(CallFailure) as refusal:
        provider.make(PROMPT, width=64, height=48, seed=1)

    assert refusal.value.kind == "filtered"


def weights_of(folder):
    return folder / "unet" / "diffusion_pytorch_model.safetensors"


def change_index(folder, **values):
    file = folder / "model_index.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda folder: (folder / "pipeline.py").write_text("print(1)"), "program code"),
        (lambda folder: (folder / "unet" / "w.bin").write_bytes(b"x"), "may run code"),
        (lambda folder: change_index(folder, _class_name=["pipeline", "Mine"]), "names a pipeline"),
        (lambda folder: change_index(folder, scheduler=["os", "system"]), "is not loaded"),
        (lambda folder: change_index(folder, scheduler=["diffusers"]), "is not loaded"),
        (lambda folder: change_index(folder, scheduler=[["diffusers"], "DDIMScheduler"]), "is not loaded"),
        (lambda folder: change_index(folder, trust_remote_code=True), "remote code"),
        (lambda folder: (folder / "model_index.json").unlink(), "names a pipeline"),
        (lambda folder: (folder / "model_index.json").write_text("[1]"), "names a pipeline"),
        (lambda folder: weights_of(folder).write_bytes(b"\x08" + bytes(9)), "not a whole safetensors file"),
    ],
)  # fmt: skip
def test_folders_with_code_foreign_parts_or_damage_are_not_loaded(copy, break_it, words):
    break_it(copy / "tiny")

    with pytest.raises(SutError) as refusal:
        check_diffusers(settings_of("tiny"), BackendContext(model_root=copy))

    assert words in str(refusal.value)


def test_a_link_that_leads_out_of_the_model_directory_is_not_followed(root, tmp_path):
    (tmp_path / "linked").symlink_to(root / "org" / "tiny")

    with pytest.raises(SutError) as refusal:
        check_diffusers(settings_of("linked"), BackendContext(model_root=tmp_path))

    assert "leads out" in refusal.value.message


def test_weights_that_do_not_fit_are_a_source_that_is_away(copy):
    config = copy / "tiny" / "unet" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "cross_attention_dim": 16}))
    source = loaded("tiny", copy)

    with pytest.raises(SourceAwayError) as failure:
        source.generate(DRIVING.canonical(("cone",)), seed=1)

    assert "cannot load tiny" in failure.value.message


def test_check_says_how_to_install_what_is_missing(root):
    with pytest.raises(SutError) as missing:
        check_diffusers(settings_of(), BackendContext(model_root=root), package="no_such_package")

    assert (missing.value.field, missing.value.hint) == (
        "provider",
        "Install it for the workers: pip install diffusers==0.42.1",
    )


def test_the_version_that_is_named_is_the_one_that_is_tested():
    pins = (Path(__file__).parents[3] / "requirements.txt").read_text().splitlines()

    assert [pin for pin in pins if pin.startswith("diffusers")] == ["diffusers==0.42.1"]


def test_check_passes_a_whole_pipeline_and_names_a_folder_that_is_not_there(root):
    kind = SCENE_BACKENDS["image_api"]

    kind.check(DRIVING, settings_of(), BackendContext(model_root=root))
    with pytest.raises(SourceAwayError) as missing:
        kind.check(DRIVING, settings_of("org/other"), BackendContext(model_root=root))

    assert "org/other" in missing.value.message
