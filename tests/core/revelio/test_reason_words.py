"""Words of a reason propose tags; nothing more."""

import pytest

from vlmlab.core.revelio.reason_words import REASON_TAGS, proposed_tags


@pytest.mark.parametrize(
    ("reason", "tags"),
    [
        ("The road is clear.", ("ignored hazard",)),
        ("The light is a GREEN  LIGHT.", ("distracted by signal",)),
        ("I stop to be safe, the cone might fall.", ("over-caution",)),
        ("Because.", ()),
        ("", ()),
    ],
)
def test_tags_are_proposed_by_words(reason, tags):
    assert proposed_tags(reason) == tags


def test_a_word_counts_only_from_its_beginning():
    assert proposed_tags("A nuclear plant") == ()  # holds "clear"


def test_every_tag_has_a_name_of_its_own():
    names = [tag.name for tag in REASON_TAGS]

    assert len(set(names)) == len(names)
