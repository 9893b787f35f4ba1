"""The tables of methods are complete and work."""

import numpy as np

from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.methods import METHOD_TITLES, METHODS, MODALITY_METHODS
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.evaluate import SeedImage
from vlmlab.core.most.types import AnswerStatus
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.trials import ConceptSetSearch
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.suts.base import SutReply


def test_revelio_is_registered_under_its_name():
    assert {name: entry.name for name, entry in METHODS.items()} == {"revelio": "revelio"}
    assert METHODS["revelio"].config_type is RevelioConfig


def test_a_registered_search_asks_sets_of_the_domain():
    domain = load_domain("driving")

    search = METHODS["revelio"].build_search(RevelioConfig(), domain=domain, run_seed=1)

    assert isinstance(search, ConceptSetSearch)
    assert all(domain.is_compatible(query.key) for query in search.ask())


def test_most_is_registered_beside_it_and_every_name_has_a_title():
    assert {name: entry.name for name, entry in MODALITY_METHODS.items()} == {"most": "most"}
    assert MODALITY_METHODS["most"].config_type is MostConfig
    assert METHOD_TITLES == {"revelio": "Concept sets (Revelio)", "most": "Modalities (MoST)"}


def test_a_registered_modality_search_asks_inputs_and_takes_what_is_read():
    method, config = MODALITY_METHODS["most"], MostConfig(algorithm="random", slots=2)
    pixels, truth = np.full((24, 32, 3), 90, dtype=np.uint8), np.array([[8.0, 6.0, 24.0, 18.0]])
    seed_image = SeedImage("a" * 64, pixels, "cup", "Find the cup.", truth)
    space = method.build_space(
        config, regime="image", image_operators=tuple(IMAGE_OPERATORS), text_operators=tuple(TEXT_OPERATORS)
    )
    perturber = method.make_perturber(
        seed_image, space=space, run_seed=1, embed=lambda text: np.ones(1), text_operators=TEXT_OPERATORS
    )
    search = method.build_search(config, target=perturber.target(clean_iou=0.9), run_seed=1)

    made = [perturber.perturbed(query.strategy) for query in search.ask()]
    answer = method.read(
        SutReply('[{"bbox_2d": [250, 250, 750, 750]}]'),
        truth=truth,
        convention=RELATIVE_1000,
        image_size=seed_image.size,
    )

    assert [(one.pixels.shape, one.prompt) for one in made] == [((24, 32, 3), "Find the cup.")] * 2
    assert (answer.status, answer.iou) == (AnswerStatus.BOXES, 1.0)
