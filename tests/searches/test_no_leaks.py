"""A provider's key, used in every way that the lab uses one, is found nowhere afterwards."""

import base64
import io
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import NoReverseMatch, reverse
from kombu import Connection

from searches import tasks
from searches.enums import JobKind, JobState, RunState
from searches.models import Calibration, Job, SearchRun, SutRecord
from searches.services.advance import advance_run
from searches.services.exports import RUN_EXPORTS
from searches.services.jobs import run_job
from searches.services.leases import take_job, take_lease
from searches.services.tokens import create_token
from tests.doubles import paint_png
from tests.factories import make_user
from tests.peers.openai_chat import completion, openai_peer
from tests.peers.server import Answer, Asked, json_answer
from tests.searches.engine import FLAT, as_new_process, start_run
from tests.web.addresses import every_address
from vlmlab.web.log_format import RedactingFormatter
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db

SECRET = "sk-leaktest-7Qm2Zr9Xv4Lb8Np3"
FORMS = tuple(
    form.encode()
    for form in (
        SECRET,
        SECRET[:-4],
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
        quote(SECRET[3:-4], safe=""),
    )
)


def leaks(*contents: bytes | str) -> list[str]:
    """Return the surroundings of every place where the key stands."""
    found = []
    for content in contents:
        text = content.encode() if isinstance(content, str) else content
        for form in FORMS:
            place = text.find(form)
            if place >= 0:
                found.append(text[max(0, place - 80) : place + 80].decode(errors="replace"))
    return found


def answering(asked: Asked) -> Answer:
    """Answer what is asked; a wrong model gets the key back inside of the error, as careless proxies do."""
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    if "echo-json" in asked.body["model"]:
        message = f"Incorrect API key provided: {asked.headers['authorization']} ({SECRET})."
        return json_answer({"error": {"message": message, "code": SECRET}}, code=401)
    if "echo-html" in asked.body["model"]:
        html = f"<html><title>{SECRET}</title><body>{dict(asked.headers)}</body></html>"
        return Answer(404, html.encode(), {"Content-Type": "text/html"})
    return json_answer(completion("A"))


class Lines(logging.Handler):
    """Everything that was logged, as the site writes it and as it came."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(RedactingFormatter("{asctime} {levelname} {name}: {message}", style="{"))
        self.written: list[str] = []
        self.raw_of_libraries: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.written.append(self.format(record))
        if not record.name.startswith("leaktest"):
            self.raw_of_libraries.append(logging.Formatter().format(record))


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler, root = Lines(), logging.getLogger()
    names = ("httpx2", "httpcore2", "httpx", "httpcore", "botocore", "boto3", "urllib3", "kombu", "celery")
    loggers = [root, *map(logging.getLogger, names)]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.DEBUG)
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)
    for one, level in zip(loggers, before, strict=True):
        one.setLevel(level)


@pytest.fixture
def bodies(settings, monkeypatch) -> list[bytes]:
    """Send Celery's messages to a broker in memory and keep what was put on the wire."""
    settings.BROKER_URL = "memory://leaks"
    sent: list[bytes] = []
    send = tasks.advance_run_task.apply_async

    def keep(queue: str, **options) -> None:
        with Connection("memory://leaks") as broker:
            send(queue=queue, connection=broker, **options)
            with broker.SimpleQueue(queue) as waiting:
                message = waiting.get_nowait()
                sent.append(repr((message.body, message.headers, message.properties)).encode())
                message.ack()

    monkeypatch.setattr(tasks.advance_run_task, "apply_async", keep, raising=False)
    return sent


def registered(browser: Client, url: str, model: str, *, key: dict[str, str], calibrate: bool) -> SutRecord:
    values = {
        "name": model,
        "description": "",
        "slug": "",
        "base_url": f"{url}/v1",
        "model": model,
        "concurrency": "4",
        **key,
        **({"calibrate_now": "on"} if calibrate else {}),
    }
    answer = browser.post("/suts/new/?kind=openai_chat", values)
    assert answer.status_code == 302, dict(answer.context["form"].errors)
    return SutRecord.objects.get(name=model)


def ask_for_everything(browser: Client, url: str) -> None:
    """Register three systems with the key, ask each, and send the key with forms that are refused."""
    first = {"api_key": "new", "secret": SECRET, "key_name": "Leak test"}
    good = registered(browser, url, "good-model", key=first, calibrate=True)
    stored = {"api_key": str(good.api_key_id)}
    bad = [registered(browser, url, name, key=stored, calibrate=True) for name in ("echo-json", "echo-html")]
    for sut in (good, *bad):
        picture = io.BytesIO(paint_png((10, 20, 30)))
        picture.name = "p.png"
        browser.post(
            f"/suts/{sut.slug}/try/", {"picture": picture, "mode": "text", "prompt": "What is this?"}
        )
    browser.post("/suts/new/?kind=openai_chat", {"name": "", "secret": SECRET})
    browser.post("/keys/new/", {"name": "", "kind": "nothing", "secret": SECRET})
    browser.post(f"/keys/{good.api_key_id}/replace/", {"secret": SECRET})


def work_off() -> None:
    """Do every waiting job, as a worker would."""
    while (lease := take_job("w:1:1:main", ["api"])) is not None:
        run_job(lease)


def every_reply(browser: Client, token: str) -> dict[str, bytes]:
    """Open every address of the site with every row there is, as a page and through the API."""
    numbers = {
        "suts": [{"slug": slug} for slug in SutRecord.objects.values_list("slug", flat=True)],
        "calibrations": [{"slug": one.sut.slug, "pk": one.pk} for one in Calibration.objects.all()],
        "runs": [{"pk": one.pk} for one in SearchRun.objects.all()] + [{"pk": 1}, {}],
        "jobs": [{"pk": one.pk} for one in Job.objects.all()],
        "exports": [
            {"pk": one.pk, "what": what, "fmt": fmt}
            for one in SearchRun.objects.all()
            for what, fmt in RUN_EXPORTS
        ],
        "more": [{"fmt": fmt} for fmt in ("csv", "json", "jsonl")],
    }
    replies: dict[str, bytes] = {}
    names = {one.name for one in every_address()} - {"logout", "sign_in"}
    for name in sorted(names):
        for kwargs in (one for rows in numbers.values() for one in rows):
            try:
                path = reverse(name, kwargs=kwargs)
            except NoReverseMatch:
                continue
            replies[path] = content_of(browser.get(path))
    schema, program = browser.get("/api/v1/openapi.json"), Client()
    for path in schema.json()["paths"] if schema.status_code == 200 else ():
        for row in ("1", *SutRecord.objects.values_list("slug", flat=True)):
            filled = "/".join(row if part.startswith("{") else part for part in path.split("/"))
            replies[filled] = content_of(program.get(filled, headers={"authorization": f"Bearer {token}"}))
    return replies


def content_of(answer) -> bytes:
    head = repr(dict(answer.headers)).encode()
    return head + (b"".join(answer.streaming_content) if answer.streaming else answer.content)


@pytest.fixture
def used_key(settings, draw_once, lines, bodies, django_capture_on_commit_callbacks) -> Iterator[Client]:
    """Store the key, then calibrate, try, search and fail with it; return an admin's browser."""
    settings.SCENE_SOURCE_FACTORY = FLAT
    settings.ENDPOINT_ALLOW = ["127.0.0.0/8:1-65535"]
    as_new_process()
    browser = Client(raise_request_exception=False)
    browser.force_login(make_user(Role.ADMIN))
    with openai_peer(answering) as peer:
        with django_capture_on_commit_callbacks(execute=True):
            ask_for_everything(browser, peer.url)
        work_off()
        for sut in SutRecord.objects.exclude(name="echo-html"):
            run = start_run(sut, algorithm="random", inference_budget=8, samples_per_set=4)
            advance_run(take_lease("w:1:1:main", ["api"], run_id=run.pk), slice_seconds=1e9)
        assert len(peer.requests) > 40
        yield browser
    as_new_process()


def test_a_key_that_was_used_in_every_way_is_found_nowhere(used_key, lines, bodies, settings):
    try:
        raise RuntimeError(f"a library quotes {SECRET}")
    except RuntimeError:
        logging.getLogger("leaktest").exception("failed with %s", {"Authorization": f"Bearer {SECRET}"})
    token = create_token(by=make_user(Role.ADMIN), name="walk", days=None)
    replies = every_reply(used_key, token.text)
    dump = io.StringIO()
    call_command("dumpdata", stdout=dump)
    files = [one.read_bytes() for one in Path(settings.DATA_DIR).rglob("*") if one.is_file()]

    assert Job.objects.filter(kind=JobKind.TRY_SUT, state=JobState.DONE).exists()
    assert SearchRun.objects.filter(state=RunState.SUCCEEDED).exists()
    assert (len(replies) > 60, len(bodies) > 2, any("leaktest" in one for one in lines.written)) == (
        True, True, True,
    )  # fmt: skip
    assert leaks(*(f"{path}: ".encode() + content for path, content in replies.items())) == []
    assert leaks(dump.getvalue(), *database_bytes()) == []
    assert leaks(*files, *bodies) == []
    assert leaks(*lines.written) == []
    assert leaks(*lines.raw_of_libraries) == []


def database_bytes() -> list[bytes]:
    """Return the whole database: SQLite's file as it stands on disk, of others every row of every table."""
    connection.ensure_connection()
    if connection.vendor == "sqlite":
        return [connection.connection.serialize()]
    with connection.cursor() as cursor:
        rows = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows.append(repr(cursor.fetchall()).encode())
    return rows


def test_the_search_for_leaks_would_find_one():
    assert leaks(f"x {SECRET} y", b"nothing") != []
    assert leaks("nothing", SECRET[:-5]) == []
