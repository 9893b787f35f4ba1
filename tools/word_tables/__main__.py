"""``python -m tools.word_tables``: make the shipped tables of homophones and synonyms again."""

import argparse
from pathlib import Path

from tools.word_tables.sources import find_sources
from tools.word_tables.tables import coverage_page, make_tables, write_tables

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Make the tables, write them and the page that tells what they cover."""
    parser = argparse.ArgumentParser(prog="python -m tools.word_tables", description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="folder of the packages, see README.md")
    parser.add_argument("--out", type=Path, default=ROOT / "vlmlab" / "core" / "perturb" / "data")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "word_tables.md")
    chosen = parser.parse_args()
    made = make_tables(find_sources(chosen.packages))
    write_tables(made, chosen.out)
    chosen.page.write_text(coverage_page(made), "utf-8")
    for kind, table in made.tables.items():
        print(f"{kind}s: {len(table.entries)} labels have an entry.")


if __name__ == "__main__":
    main()
