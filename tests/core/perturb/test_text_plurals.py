"""Labels are put in the plural as one writes it."""

import pytest

from vlmlab.core.perturb.text_plurals import plural_of


@pytest.mark.parametrize(
    ("label", "plural"),
    [
        ("cup", "cups"),
        ("bus", "buses"),
        ("drinking glass", "drinking glasses"),
        ("bench", "benches"),
        ("toothbrush", "toothbrushes"),
        ("box", "boxes"),
        ("strawberry", "strawberries"),
        ("donkey", "donkeys"),
        ("child", "children"),
        ("policeman", "policemen"),
        ("kitchen knife", "kitchen knives"),
        ("dormouse", "dormice"),
        ("person in a wheelchair", "people in a wheelchair"),
        ("pair of scissors", "pairs of scissors"),
        ("heap of debris", "heaps of debris"),
        ("scissors", None),
        ("skis", None),
        ("sheep", None),
        ("goldfish", None),
        ("model 3", None),
        ("чашка", None),
        ("", None),
    ],
)
def test_a_label_has_its_plural(label, plural):
    assert plural_of(label) == plural
