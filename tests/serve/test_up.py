"""The whole lab as a newcomer starts it: real processes, a real port."""

import os
import signal
import socket
import subprocess
import sys
from http import HTTPStatus
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from searches.management.commands.up import default_renderers
from tests.patience import PATIENCE_SECONDS
from tests.serve.labs import ROOT, children_of, is_alive, lab_environment, start_lab, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX processes")]

SECOND_PROCESS = """
import django
django.setup()
from django.test import Client
answer = Client(headers={"host": "localhost"}).post("/login/", {"username": "mallory", "password": "x"})
print(answer.status_code, answer.get("Retry-After"))
"""


class Browser:
    """Keeps cookies and sends the CSRF token, as a browser with a form does."""

    def __init__(self, lab):
        self.cookies = CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.cookies))
        self.lab = lab

    def open(self, path, form=None):
        url = path if path.startswith("http") else self.lab.address + path
        data = None
        if form is not None:
            token = next(cookie.value for cookie in self.cookies if cookie.name == "csrftoken")
            data = urlencode({**form, "csrfmiddlewaretoken": token}).encode()
        try:
            return self.opener.open(Request(url, data), timeout=PATIENCE_SECONDS)
        except HTTPError as error:
            return error


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    lab = start_lab(tmp_path_factory.mktemp("lab"), free_port())
    yield lab
    lab.stop()


@pytest.fixture(scope="module")
def second_folder(tmp_path_factory):
    """A folder whose database is made by the first test that uses it."""
    return tmp_path_factory.mktemp("second-lab")


def up(folder, *arguments, **environment):
    """Run ``manage.py up`` where it is expected to be refused."""
    return subprocess.run(
        [sys.executable, "manage.py", "up", *arguments],
        cwd=ROOT,
        env=lab_environment(folder) | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_the_printed_link_signs_in_once(lab):
    first, second = Browser(lab), Browser(lab)
    first.open(lab.sign_in_link)

    answer = first.open(lab.sign_in_link, form={})
    again = second.open(lab.sign_in_link)

    assert (answer.status, answer.url) == (HTTPStatus.OK, lab.address + "/")
    assert again.status == HTTPStatus.GONE
    assert first.open("/people/").status == HTTPStatus.OK


def test_wrong_passwords_lock_out_in_every_process(lab):
    browser = Browser(lab)
    browser.open("/login/")
    answers = [browser.open("/login/", {"username": "mallory", "password": f"{i}"}) for i in range(6)]

    elsewhere = subprocess.run(
        [sys.executable, "-c", SECOND_PROCESS],
        cwd=ROOT,
        env=lab_environment(lab.folder) | {"DJANGO_SETTINGS_MODULE": "vlmlab.settings"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )

    assert answers[-1].status == HTTPStatus.TOO_MANY_REQUESTS
    assert answers[-1].headers["Retry-After"] == "900"
    assert elsewhere.stdout == "429 900\n"


def test_static_files_are_hashed_compressed_and_cached_for_good(lab):
    page = Browser(lab).open("/login/").read().decode()
    path = page.partition('rel="stylesheet" href="')[2].partition('"')[0]

    answer = Browser(lab).open(path)

    assert answer.status == HTTPStatus.OK
    assert "immutable" in answer.headers["Cache-Control"]


def test_a_killed_worker_is_started_again(lab):
    wait_until(lambda: lab.part("celery"), "the worker runs")
    worker = lab.part("celery")

    os.kill(worker, signal.SIGKILL)

    wait_until(lambda: lab.part("celery") not in {0, worker}, "another worker runs")


def test_a_second_start_on_the_same_folder_is_refused(lab):
    done = up(lab.folder, "--port", str(free_port()))

    assert done.returncode != 0
    assert f"VLM Lab runs on this data folder already at {lab.address}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_refused_naming_who_holds_it(lab, tmp_path):
    done = up(tmp_path, "--port", str(lab.port))

    assert done.returncode != 0
    assert f"Port {lab.port} is taken by" in done.stderr
    assert f"(process {lab.process.pid})" in done.stderr or not sys.platform.startswith("linux")
    assert f"--port {lab.port + 1}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        (("--host", "0.0.0.0"), {}, "The secret key was generated on this machine"),
        (("--host", "0.0.0.0"), {"VLMLAB_DEBUG": "1", "VLMLAB_SECRET_KEY": "k" * 60}, "With VLMLAB_DEBUG on"),
        ((), {"VLMLAB_BROKER_URL": "filesystem://"}, "VLMLAB_BROKER_URL starts with filesystem"),
        (("--port", "0"), {}, "is not a port"),
        ((), {"VLMLAB_DATABASE_URL": "postgres://lab@127.0.0.1:1/lab"}, "The database does not answer"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(arguments, environment, sentence, tmp_path):
    done = up(tmp_path, *(arguments or ("--port", str(free_port()))), **environment)

    assert done.returncode != 0
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_the_log_holds_neither_the_secret_key_nor_a_used_link(lab):
    key = (lab.folder / "data" / "secret_key").read_text("utf-8")
    token = lab.sign_in_link.rstrip("/").rpartition("/")[2]

    assert key not in lab.log
    assert lab.log.count(token) == lab.log.count("Sign in as") == 1  # for the person at the terminal
    assert "Warning" not in lab.log


def all_parts_of(lab, *, queue):
    """Wait for web, worker, renderers and perhaps the queue, which start one after the other."""
    count = 2 + queue + default_renderers()
    wait_until(lambda: len(children_of(lab.process.pid)) == count, f"{count} parts run")
    return list(children_of(lab.process.pid))


def test_ctrl_c_stops_all_parts(second_folder):
    lab = start_lab(second_folder, free_port(), "--no-queue")
    children = all_parts_of(lab, queue=False)

    status = lab.stop()

    assert status == 0
    assert not any(map(is_alive, children))


def test_a_killed_lab_leaves_no_process_behind_and_can_be_started_again(second_folder):
    lab = start_lab(second_folder, free_port())
    children = all_parts_of(lab, queue=True)

    lab.process.kill()
    lab.process.wait()
    wait_until(lambda: not any(map(is_alive, children)), "all parts end")
    again = start_lab(second_folder, lab.port)

    assert again.stop() == 0
