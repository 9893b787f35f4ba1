"""The manual says what is true: links lead somewhere, commands and settings exist, quoted words are ours."""

import ast
import re
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

import pytest
from django.core.management import get_commands

from tools.docs.tables import MODALITY_TABLES, TABLES, rewritten, settings_table, table_on_page
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.web.manual import LINK_TO_PAGE, PICTURE, anchor_of, manual_contents, manual_page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [ROOT / "README.md", *PAGES]
QUOTED = [
    DOCS / f"{name}.md"
    for name in (
        *("troubleshooting", "first_search", "systems", "systems_remote", "reading_replies"),
        *("findings", "api", "datasets", "own_domains", "picture_sources"),
    )
]
SOURCES = ("searches", "vlmlab")
FOREIGN_COMMANDS = {"celery", "createcachetable"}
FOR_DEVELOPERS = {"VLMLAB_UP_PLAN"}  # handed from `up` to its child


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def links_of(path: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("path", TEXTS, ids=names(TEXTS))
def test_every_relative_link_leads_to_a_file(path: Path) -> None:
    missing = [link for link in links_of(path) if not (path.parent / link.partition("#")[0]).exists()]

    assert missing == []


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_every_relative_link_of_the_manual_works_on_the_site_too(path: Path) -> None:
    elsewhere = [link for link in links_of(path) if not (LINK_TO_PAGE.match(link) or PICTURE.match(link))]

    assert elsewhere == []


@pytest.mark.parametrize("path", TEXTS, ids=names(TEXTS))
def test_every_link_to_a_heading_names_one(path: Path) -> None:
    targets = [link.partition("#") for link in links_of(path) if "#" in link]

    assert [name + sign + anchor for name, sign, anchor in targets if anchor not in anchors(name)] == []


def anchors(name: str) -> set[str]:
    text = re.sub(r"```.*?```", "", (DOCS / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    return {anchor_of(heading) for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)}


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_every_page_is_shown_with_its_title(path: Path) -> None:
    page = manual_page(DOCS, path.stem)

    assert page is not None
    assert f"# {page.title}" == path.read_text(encoding="utf-8").splitlines()[0]
    assert path.stem in [entry.name for entry in manual_contents(DOCS)]


@pytest.mark.parametrize("path", TEXTS, ids=names(TEXTS))
def test_every_named_command_exists(path: Path) -> None:
    named = set(re.findall(r"manage\.py ([a-z_]+)", path.read_text(encoding="utf-8")))

    assert named - set(get_commands()) - FOREIGN_COMMANDS == set()


@pytest.mark.parametrize("package", ["vlmlab/core/suts", "vlmlab/core/scenes"])
def test_the_page_of_the_architecture_names_every_module_of_a_package_and_no_other(package: str) -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = text.partition(f"| Module of `{package}/`")[2].partition("\n\n")[0]
    cells = [row.split("|")[1] for row in table.splitlines()[2:]]
    patterns = set(re.findall(r"`([a-z_*]+)`", " ".join(cells)))
    modules = {path.stem for path in (ROOT / package).glob("[a-z]*.py")}

    assert {one for one in modules if not any(fnmatch(one, pattern) for pattern in patterns)} == set()
    assert {pattern for pattern in patterns if not any(fnmatch(one, pattern) for one in modules)} == set()


def test_the_page_of_security_names_only_tests_that_exist() -> None:
    named = re.findall(
        r"`([a-z0-9_/]+/test_[a-z0-9_]+\.py)`", (DOCS / "security.md").read_text(encoding="utf-8")
    )

    assert len(named) > 20
    assert {name for name in named if not (ROOT / "tests" / name).is_file()} == set()


def test_the_page_of_the_shell_names_every_command_of_the_lab() -> None:
    ours = {name for name, app in get_commands().items() if app == "searches"}
    text = (DOCS / "shell.md").read_text(encoding="utf-8")

    assert {name for name in ours if f"`manage.py {name}`" not in text} == set()


def test_the_page_of_the_shell_names_every_option_of_the_commands_for_people() -> None:
    text = (DOCS / "shell.md").read_text(encoding="utf-8")
    named = ("run_search", "bench_search", "bench_most", "render_sheet", "sut", "reparse")
    sources = [ROOT / "searches/management/commands" / f"{command}.py" for command in named]
    for path in (*sources, ROOT / "searches/management/most_search.py"):
        source = path.read_text(encoding="utf-8")
        options = set(re.findall(r'"(--[a-z-]+)"', source)) - {"--quality"}

        assert {option for option in options if option not in text} == set()


def test_the_environment_is_described_in_full_and_nothing_else_is() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in source_files())
    read = set(re.findall(r"[\"'](VLMLAB_[A-Z_]+)[\"']", code)) - FOR_DEVELOPERS
    described = set(re.findall(r"VLMLAB_[A-Z_]+", (DOCS / "running.md").read_text(encoding="utf-8")))

    assert described == read


@pytest.mark.parametrize("path", TEXTS, ids=names(TEXTS))
def test_every_named_setting_of_the_environment_exists(path: Path) -> None:
    code = "\n".join(file.read_text(encoding="utf-8") for file in source_files())
    named = set(re.findall(r"VLMLAB_[A-Z_]+", path.read_text(encoding="utf-8")))

    assert {name for name in named if f'"{name}"' not in code} == set()


@pytest.mark.parametrize("heading", TABLES)
def test_the_tables_of_searches_are_those_of_the_code_and_of_the_benchmark(heading: str) -> None:
    page = (DOCS / "searches.md").read_text(encoding="utf-8")

    assert table_on_page(page, heading) == TABLES[heading](), "run: python -m tools.docs.tables"


@pytest.mark.parametrize("heading", MODALITY_TABLES)
def test_the_tables_of_modality_searches_are_those_of_the_code(heading: str) -> None:
    page = (DOCS / "modality.md").read_text(encoding="utf-8")

    assert table_on_page(page, heading) == MODALITY_TABLES[heading](), "run: python -m tools.docs.tables"


def test_the_table_of_settings_has_a_row_for_each_field_with_its_default() -> None:
    rows = settings_table().splitlines()[2:]

    assert [row.split("`")[1] for row in rows] == list(RevelioConfig.model_fields)
    assert "| 1,000 | 1 to 1,000,000 |" in rows[1]
    assert "| 0.6 | above 0, at most 1 |" in rows[2]


def test_rewriting_a_page_touches_nothing_but_its_tables() -> None:
    page = "".join(f"# P\n\n{heading}\n\nbefore\n\n| old |\n| --- |\n\nafter\n" for heading in TABLES)

    again = rewritten(page)

    assert again.count("before\n\n| ") == again.count(" |\n\nafter\n") == len(TABLES)
    assert "| old |" not in again


@pytest.mark.parametrize("path", QUOTED, ids=names(QUOTED))
def test_quoted_words_are_those_of_the_lab(path: Path) -> None:
    quoted = re.findall(r"“((?:[^“”]|“[^“”]*”)+)”", path.read_text(encoding="utf-8"))
    strange = [
        part
        for text in quoted
        for part in re.split(r"“?…”?", text)
        if len(part.strip(" .,:'“”")) > 3 and not is_ours(part.strip(" '“”"))
    ]

    assert [part for part in strange if part not in OWN_QUOTES] == []


@pytest.mark.parametrize(
    "name",
    [
        *("first_search.md", "troubleshooting.md", "domains.md", "systems.md", "systems_remote.md"),
        *("reading_replies.md", "api.md", "datasets.md", "own_domains.md", "picture_sources.md"),
    ],
)
def test_bold_words_stand_on_a_page_of_the_site(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    bold = set(re.findall(r"\*\*([^*]+)\*\*", text))

    assert {word for word in bold if not is_ours(word)} - EMPHASIS == set()


OWN_QUOTES = {"B. text", "Answer: B", "Only in one", "parked", "suspected"}
EMPHASIS = {
    "an answer that was stored is never lost",
    "a run that stopped can be resumed",
    "Fixed batches.",
    "Memory.",
    "Address and key.",
    "Temperature.",
    "never called",
    "enter your contract's prices",
    "Gemma and Nemotron Omni document no coordinates.",
    "One declared convention.",
    "Pixels of which picture?",
    "What is accepted.",
    "Runs and jobs",
    "Downloads",
    "Modifiers",
    "version",
    "not",
    "Sign in as admin",
    "cannot be drawn",
    "Revision",
}


def source_files() -> list[Path]:
    return [path for name in SOURCES for path in sorted((ROOT / name).rglob("*.py"))]


@lru_cache(maxsize=1)
def our_words() -> str:
    """Return every string of the code, the words of every template ("…" for a value), and the domain."""
    words: list[str] = []
    for path in source_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        words.extend(
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
    for path in (ROOT / "templates").rglob("*.html"):
        text = re.sub(r"\{\{.*?\}\}", "…", path.read_text(encoding="utf-8"))
        words.extend(re.findall(r'(?:text|title|hint|label|button)="([^"]+)"', text))
        words.append(re.sub(r"\{#.*?#\}|\{%.*?%\}|<[^>]+>", "", text))
    words.append((ROOT / "vlmlab/core/scenes/domains/driving.json").read_text(encoding="utf-8"))
    return "\0".join(words)


def is_ours(part: str) -> bool:
    return part.replace("Pocket VLM", "…") in our_words() or part in our_words()
