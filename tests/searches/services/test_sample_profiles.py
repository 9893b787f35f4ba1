"""The shipped sensitivity profiles are of the shipped models, seed images and operators."""

import pytest

from searches.models import Campaign, ModalityCase, ModalityRun, SutRecord
from searches.services.modality_inputs import perturber_of
from searches.services.sample_data import load_sample_data
from searches.services.sample_modality import load_profiles
from searches.services.sample_seeds import load_seeds
from searches.services.suts import load_sut, unload_sut
from vlmlab.core.images import sha256_of
from vlmlab.core.suts.base import SutRequest

pytestmark = pytest.mark.django_db

RELATED = tuple(f"modality_run__{name}" for name in ("run", "campaign", "picture", "sut", "clean_answer"))


@pytest.fixture
def profiles():
    load_sample_data()
    load_seeds()
    return load_profiles()


def a_case_of_each_regime(sut: str) -> list[ModalityCase]:
    cases = ModalityCase.objects.filter(modality_run__sut__slug=sut).select_related(*RELATED)
    found = [
        cases.filter(modality_run__regime=regime).order_by("pk").last()
        for regime in ("image", "text", "joint")
    ]
    return [case for case in found if case is not None]


def test_two_campaigns_are_shipped_and_all_their_runs_have_ended(profiles):
    assert profiles == [
        "Sample profile “A first profile” loaded: 240 runs.",
        "Sample profile “How each operator alone works” loaded: 24 runs.",
    ]
    assert not ModalityRun.objects.filter(status="unfinished").exists()
    assert Campaign.objects.filter(method="most", is_sample=True).count() == 2


@pytest.mark.parametrize("slug", ["pocket", "pocket-early"])
def test_shipped_models_still_give_the_answers_of_the_shipped_cases(profiles, slug):
    cases = a_case_of_each_regime(slug)
    made = []
    for case in cases:
        perturber = perturber_of(case.modality_run)
        made.append(perturber.perturbed(perturber.space.strategy(case.severities)))

    replies = load_sut(SutRecord.objects.get(slug=slug)).generate(
        [SutRequest(one.png, one.prompt) for one in made]
    )
    unload_sut()

    assert len(cases) == 3
    assert [one.prompt for one in made] == [case.prompt for case in cases]
    assert [sha256_of(one.png) for one in made] == [case.image_sha256 for case in cases]
    assert [reply.text for reply in replies] == [case.raw_text for case in cases]
