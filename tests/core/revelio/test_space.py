"""The space of sets: members, look-up, and limits of a configuration."""

import numpy as np
import pytest

from tests.core.revelio.tiny import TinyDomain
from vlmlab.core.errors import ConceptError, ConfigError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.space import build_space
from vlmlab.core.scenes.catalogue import load_domain


def test_members_are_padded_with_the_number_of_concepts():
    space = build_space(TinyDomain("abc", max_size=2), RevelioConfig())

    assert space.masks.tolist() == [1, 2, 4, 3, 5, 6]
    assert space.members.tolist() == [[0, 3], [1, 3], [2, 3], [0, 1], [0, 2], [1, 2]]
    assert (space.smallest, space.largest) == (1, 2)
    assert space.of_size(2).tolist() == [3, 4, 5]


def test_find_gives_positions_and_minus_one_for_strangers():
    space = build_space(TinyDomain("abc", max_size=2), RevelioConfig())

    assert space.find(np.array([6, 3, 7, 0, 99])).tolist() == [5, 3, -1, -1, -1]


def test_configuration_limits_the_sets():
    config = RevelioConfig(excluded_concepts=("a",), required_concepts=("b",), max_set_size=2)

    space = build_space(TinyDomain("abcd"), config)

    assert [space.key(index) for index in range(3)] == [("b",), ("b", "c"), ("b", "d")]


def test_a_configuration_that_leaves_nothing_is_refused():
    config = RevelioConfig(required_concepts=("a", "b"))

    with pytest.raises(ConfigError) as caught:
        build_space(TinyDomain("abc", forbidden=("ab",)), config)

    assert caught.value.message == "No valid concept set is left to search."
    assert caught.value.field == "required_concepts"


def test_an_unknown_concept_is_refused():
    with pytest.raises(ConceptError, match="conee"):
        build_space(load_domain("driving"), RevelioConfig(excluded_concepts=("conee",)))


def test_driving_has_its_110664_sets():
    space = build_space(load_domain("driving"), RevelioConfig())

    assert np.bincount(space.sizes).tolist() == [0, 20, 344, 3024, 18988, 88288]
