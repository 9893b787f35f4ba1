"""A real browser before the live site, with an eye on the security policy and the console."""

import os
import shutil
from typing import Any

import pytest
from django.test import Client

from tests.e2e.visitor import PATIENCE_MS, Visitor
from tests.factories import make_user
from vlmlab.web.roles import Role

# Playwright's loop runs in this thread; the ORM would refuse to be called beside it.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
COLLECT_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`);
});
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api")
    binary = os.environ.get("VLMLAB_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if binary is None:
        pytest.skip("no Chromium on this machine; set VLMLAB_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=binary, args=list(ARGUMENTS), timeout=PATIENCE_MS
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, live_server, transactional_db):
    """Return a function that signs a person in and gives their tab: ``visit(Role.RESEARCHER, width=390)``."""
    contexts = []

    def start(
        role: Role | None = Role.ADMIN, *, width: int = 1280, theme: str = "", scripts: bool = True
    ) -> Visitor:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
            has_touch=width < 500,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        if role is not None:
            client = Client()
            client.force_login(make_user(role))
            context.add_cookies(
                [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
            )
        if theme:
            context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
        context.add_init_script(COLLECT_VIOLATIONS)
        page = context.new_page()
        visitor = Visitor(page, live_server.url)
        page.on("console", lambda line: _note(visitor, line) if line.type == "error" else None)
        page.on("pageerror", lambda error: visitor.problems.append(f"{page.url}: {error}"))
        return visitor

    yield start
    for context in contexts:
        context.close()


def _note(visitor: Visitor, line: Any) -> None:
    visitor.problems.append(f"{visitor.page.url}: {line.text}")
