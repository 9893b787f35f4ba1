"""Every shape says who made it and on what terms; a row that lacks something is told by its line."""

import pytest

from vlmlab.core.scenes.render.credits import (
    ASSETS,
    COLUMNS,
    attributions,
    credit_lines,
    read_attributions,
)

ROW = {
    "asset": "cone",
    "title": "Cone",
    "author": "Ada",
    "source": "A library",
    "source_address": "https://example.org/cones",
    "licence": "CC0 1.0",
    "licence_address": "https://creativecommons.org/publicdomain/zero/1.0/",
    "modified": "decimated, repacked",
}


def table(*rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> str:
    return "\n".join(
        "\t".join(line) for line in [columns, *[[row[name] for name in columns] for row in rows]]
    )


def test_every_asset_file_has_a_row_and_every_row_a_file():
    files = sorted(path.stem for path in ASSETS.iterdir() if path.suffix != ".tsv" and path.is_file())

    assert [row.asset for row in attributions()] == files


def test_only_licences_that_allow_changed_copies_are_used():
    known = {
        "https://creativecommons.org/licenses/by/3.0/": "CC-BY 3.0",
        "https://creativecommons.org/publicdomain/zero/1.0/": "CC0 1.0",
    }

    assert {row.licence_address for row in attributions()} <= set(known)
    for row in attributions():
        assert row.licence.startswith(known[row.licence_address])


def test_rows_are_read_sorted_by_asset():
    rows = read_attributions(table(ROW, ROW | {"asset": "bin", "title": "Bin"}))

    assert [(row.asset, row.title, row.modified) for row in rows] == [
        ("bin", "Bin", "decimated, repacked"),
        ("cone", "Cone", "decimated, repacked"),
    ]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_row_that_lacks_something_is_named_with_what_it_lacks(name):
    with pytest.raises(
        ValueError, match=rf"line 3 \({'no asset' if name == 'asset' else 'bin'}\): {name} is empty"
    ):
        read_attributions(table(ROW, ROW | {"asset": "bin"} | {name: " "}))


@pytest.mark.parametrize("name", ["source_address", "licence_address"])
def test_an_address_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match=rf"line 2 \(cone\): {name} is no address: see there"):
        read_attributions(table(ROW | {name: "see there"}))


def test_an_asset_that_stands_twice_is_refused():
    with pytest.raises(ValueError, match=r"line 3 \(cone\): the asset is listed twice"):
        read_attributions(table(ROW, ROW))


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="the column modified is missing"):
        read_attributions(table(ROW, columns=COLUMNS[:-1]))


def test_the_credits_as_text_name_author_source_licence_and_change_of_each():
    text = credit_lines()

    assert text.count("\n") == len(attributions())
    for row in attributions():
        assert f"{row.title} by {row.author}, {row.source} ({row.source_address}), {row.licence}" in text
    assert text.count("changed: ") == len(attributions())
