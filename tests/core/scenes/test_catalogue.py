"""The domain file is complete, and damaged ones are refused with a sentence."""

import json
from importlib import resources

import pytest

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import (
    DOMAIN_SLUGS,
    FORMER_VERSIONS,
    domain_from,
    load_domain,
    shipped_domain,
)


@pytest.fixture
def content():
    return json.loads(resources.files("vlmlab.core.scenes.domains").joinpath("driving.json").read_text())


@pytest.mark.parametrize("slug", DOMAIN_SLUGS)
def test_built_in_domains_load_and_have_every_text(slug):
    domain = load_domain(slug)

    for concept in domain.concepts:
        assert all((concept.label, concept.description, concept.snippet))
        assert concept.statement_true != concept.statement_false
    assert {rule.action for rule in domain.rules} == set(domain.actions)


@pytest.mark.parametrize("slug", DOMAIN_SLUGS)
def test_labels_tell_concepts_apart(slug):
    labels = [concept.label for concept in load_domain(slug).concepts]

    assert len(set(labels)) == len(labels)


def test_load_domain_names_the_known_ones_when_the_slug_is_unknown():
    with pytest.raises(ConceptError) as caught:
        load_domain("sailing")

    assert str(caught.value) == "There is no domain “sailing”. Known: driving, indoor."


def test_version_changes_with_the_content_only(content):
    version = domain_from(content).version
    content["rules"][1]["action"] = "slow_down"

    assert version == load_domain("driving").version
    assert domain_from(content).version != version


def test_domain_from_names_the_row_of_a_malformed_concept(content):
    content["concepts"][3]["glyph"] = "star"

    with pytest.raises(ConceptError, match="not valid at concepts > 3 > glyph"):
        domain_from(content)


def test_domain_from_refuses_unknown_keys(content):
    content["concepts"][0]["colour"] = "red"

    with pytest.raises(ConceptError, match="concepts > 0 > colour"):
        domain_from(content)


def test_domain_from_refuses_the_same_concept_twice(content):
    content["concepts"].append(content["concepts"][0])

    with pytest.raises(ConceptError, match="“town_town01” stands in the file twice"):
        domain_from(content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["aliases"].update(lorry="truck"), "The alias lorry names the unknown concept “truck”."),
        (
            lambda c: c["constraints"][0]["ids"].append("town03"),
            "The constraint D1 names the unknown concept",
        ),
        (lambda c: c["rules"][1]["when"]["has"].append("siren"), "The rule R2_red_light names the unknown"),
        (lambda c: c["concepts"][3]["implies"].append("pole"), "The concept light_red names the unknown"),
        (
            lambda c: c["rules"][0].update(action="swerve"),
            "The rule R1_obstacle_near names the unknown action",
        ),
    ],
)
def test_domain_from_names_the_row_with_an_unknown_reference(content, change, message):
    change(content)

    with pytest.raises(ConceptError, match=message):
        domain_from(content)


def test_a_version_of_an_earlier_release_is_todays_domain_under_its_old_name(content):
    """The first release wrote neither kinematics nor layouts into the file; all else is the same."""
    first = domain_from(
        {name: rows for name, rows in content.items() if name not in ("draws_as", "kinematics")}
    )

    found = shipped_domain("driving", first.version)

    assert (first.version,) == FORMER_VERSIONS["driving"]
    assert found is not None
    assert (found.ref, found.rules, found.concepts) == (
        f"driving@{first.version}",
        load_domain("driving").rules,
        load_domain("driving").concepts,
    )
    assert shipped_domain("driving", load_domain("driving").version) is load_domain("driving")


@pytest.mark.parametrize(("slug", "version"), [("driving", "0" * 12), ("warehouse", "396be804ab18")])
def test_other_versions_do_not_come_with_the_lab(slug, version):
    assert shipped_domain(slug, version) is None
