"""A PDF of a self-contained page, printed by a headless Chromium on this machine, without network."""

import logging
import os
import shutil
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings

from vlmlab.core.errors import VlmLabError

logger = logging.getLogger(__name__)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60
SWITCHES = (
    "--headless", "--disable-gpu", "--disable-quic", "--disable-extensions", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer",
)  # fmt: skip
PRINT_IT = "Open the page and print it to a PDF with your browser."

_one_at_a_time = threading.Lock()
"""A browser takes some 200 MB for a second or two."""


def chromium_path() -> str:
    """Return the Chromium that prints: the configured one, or the first on the PATH; "" for none."""
    if settings.CHROMIUM:
        return settings.CHROMIUM if Path(settings.CHROMIUM).is_file() else ""
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def print_to_pdf(html: str) -> bytes:
    """Return a page as PDF.

    Args:
        html: everything in one text: styles inside, pictures as ``data:`` addresses. What keeps scripts from
            running is a policy in it (Chromium itself prints by a script, so they cannot be switched off).

    Raises:
        VlmLabError: there is no Chromium, or it printed nothing.
    """
    browser = chromium_path()
    if not browser:
        raise VlmLabError("No Chromium is on this server.", hint=PRINT_IT)
    with _one_at_a_time, TemporaryDirectory(prefix="vlmlab-pdf-") as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(html, encoding="utf-8")
        command = [browser, *SWITCHES, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # it refuses its sandbox to root
            command.append("--no-sandbox")
        problem = _run([*command, source.as_uri()], folder)
        if problem or not target.is_file():
            logger.warning("%s printed no PDF: %s", browser, problem or "no file")
            raise VlmLabError("The Chromium of this server printed nothing.", hint=PRINT_IT)
        return target.read_bytes()


def _run(command: list[str], folder: str) -> str:
    """Run the browser and return what went wrong, "" for nothing."""
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "TMPDIR": folder}
    try:
        browser = subprocess.Popen(  # noqa: S603 - our own words and a path of the settings
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        return str(error)
    try:
        _, said = browser.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} s"
    finally:
        with suppress(ProcessLookupError):  # it starts processes of its own, which would stay
            os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()
    return "" if browser.returncode == 0 else said.decode(errors="replace")[-500:]
