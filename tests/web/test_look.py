"""House rules of templates, styles and scripts that no page test would catch in time."""

import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders

BASE = Path(settings.BASE_DIR)
TEMPLATES = {
    path.relative_to(BASE).as_posix(): path.read_text() for path in (BASE / "templates").rglob("*.html")
}
STYLES = {path.name: path.read_text() for path in (BASE / "static" / "css").glob("*.css")}
HEAVY = ("torch", "transformers", "embreex", "sklearn", "plotly", "scipy", "boto3", "httpx2")


def templates_with(pattern: str) -> list[str]:
    return sorted(name for name, text in TEMPLATES.items() if re.search(pattern, text))


def test_no_template_has_an_inline_style_script_or_handler():
    assert templates_with(r"<style|\sstyle=") == []
    assert templates_with(r"<script(?![^>]*\ssrc=)") == []
    assert templates_with(r"<[^>]*\son[a-z]+=") == []


def test_every_picture_has_an_alternative_text():
    assert templates_with(r"<img(?![^>]*\salt=)") == []


def test_no_template_asks_htmx_to_evaluate_code():
    assert templates_with(r"hx-on|hx-vals=.js:|hx-vars|\[.*\]\"\s*hx") == []


def test_every_colour_of_a_style_is_a_token_or_part_of_a_drawing_over_a_picture():
    loose = {
        name: sorted(set(re.findall(r"#[0-9a-f]{3,8}\b", text)))
        for name, text in STYLES.items()
        if name not in {"site.css", "pictures.css"}
    }

    assert {name: colours for name, colours in loose.items() if colours} == {}


def test_styles_import_nothing():
    assert [name for name, text in STYLES.items() if "@import" in text or "url(" in text] == []


def test_every_style_sheet_is_linked_or_that_of_files_that_stand_alone():
    linked = re.findall(r"css/([a-z_]+\.css)", TEMPLATES["templates/_head.html"])

    assert sorted([*linked, "reports.css"]) == sorted(STYLES)


def test_the_drawing_library_is_the_one_of_the_installed_package():
    found = finders.find("plotly/plotly.min.js")

    assert Path(found).parts[-3:] == ("plotly", "package_data", "plotly.min.js")
    assert finders.find("plotly/datasets/gapminder.csv.gz") is None


def test_the_web_process_loads_none_of_the_heavy_libraries():
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'vlmlab.settings'; django.setup();"
        "from django.urls import get_resolver; get_resolver().url_patterns;"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=BASE,
        env={"PATH": "/usr/bin", "VLMLAB_SECRET_KEY": "for-this-test", "HOME": "/nonexistent"},
    )  # fmt: skip

    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
