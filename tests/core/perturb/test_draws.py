"""Tests of the draws of operators: what they depend on, and that they repeat."""

from vlmlab.core.perturb.draws import operator_generator, operator_seed
from vlmlab.core.seeding import derive_seed


def test_a_generator_depends_on_run_seed_seed_image_and_operator():
    draws = {
        (seed, image, name): operator_generator(seed, image_id=image, operator=name).random()
        for seed in (1, 2)
        for image in ("aa", "bb")
        for name in ("fog", "rain")
    }

    assert len(set(draws.values())) == 8


def test_a_generator_is_always_fresh():
    first, second = (operator_generator(1, image_id="aa", operator="fog").random(3) for _ in range(2))

    assert first.tolist() == second.tolist()


def test_the_seed_of_stored_cases_keeps_its_meaning():
    assert operator_seed(1, image_id="aa", operator="fog") == derive_seed(1, "perturb", "aa", "fog")
