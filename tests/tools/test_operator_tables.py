"""The tables of the manual's page on operators are those of the code."""

import pytest

from tools.docs.operator_tables import OPERATOR_TABLES, PAGE, main, rewritten
from tools.docs.tables import table_on_page
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS
from vlmlab.core.perturb.text import TEXT_OPERATORS


@pytest.mark.parametrize("heading", OPERATOR_TABLES)
def test_the_tables_of_operators_are_those_of_the_code(heading):
    page = PAGE.read_text(encoding="utf-8")

    assert table_on_page(page, heading) == OPERATOR_TABLES[heading](), (
        "run: python -m tools.docs.operator_tables"
    )


def test_the_page_counts_the_operators_right():
    page = PAGE.read_text(encoding="utf-8")

    assert f"{len(IMAGE_OPERATORS)} on pictures, {len(TEXT_OPERATORS)} on prompts" in page


def test_writing_again_changes_only_tables(tmp_path):
    copy = tmp_path / "operators.md"
    text = "".join(
        f"# P\n\n{heading}\n\nbefore\n\n| old |\n| --- |\n\nafter\n" for heading in OPERATOR_TABLES
    )
    copy.write_text(text, encoding="utf-8")

    main(copy)

    page = copy.read_text(encoding="utf-8")
    assert page == rewritten(page)
    assert page.count("before\n\n| ") == page.count(" |\n\nafter\n") == len(OPERATOR_TABLES)
