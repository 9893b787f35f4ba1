"""The OpenAPI schema: complete words for people, and true for programs, whatever they send."""

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from searches.api.reference import schema
from searches.models import Dataset, Job
from searches.services.tokens import create_token
from tests.factories import make_finished_run, make_sut, make_user
from tests.searches.gate_factory import make_family, make_regression
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role
from vlmlab.wsgi import application

TRUE = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
OPERATIONS = [
    pytest.param(path, method, details, id=details["operationId"])
    for path, methods in schema()["paths"].items()
    for method, details in methods.items()
]
SLUGS = {"domains": "driving", "datasets": "streets"}
loaded = schemathesis.openapi.from_dict(schema())
loaded.app = application


@pytest.mark.parametrize(("path", "method", "details"), OPERATIONS)
def test_every_operation_says_what_it_is_for_and_how_it_fails(path, method, details):
    problems = {status for status in details["responses"] if int(status) >= 400}

    assert details["summary"]
    assert len(details["description"]) >= len(details["summary"])
    assert details["security"] == [{"Token": []}]
    assert {"401", "403"} <= problems
    assert {"404"} <= problems or "{" not in path
    assert {"422"} <= problems or not details.get("requestBody")
    for status in problems:
        reply = details["responses"][status]["content"]["application/json"]["schema"]
        assert reply == {"$ref": "#/components/schemas/Problem"}
    for parameter in details["parameters"]:
        assert parameter.get("description") or parameter["in"] == "path", parameter["name"]


def test_the_schema_names_how_to_sign_in():
    assert schema()["components"]["securitySchemes"]["Token"]["scheme"] == "bearer"


def test_no_shape_that_is_sent_has_a_field_for_a_secret():
    shapes = schema()["components"]["schemas"]
    having = {name for name, shape in shapes.items() if "secret" in shape.get("properties", {})}

    assert having == {"NewSut", "SutChange"}


@pytest.fixture
def kept_connection():
    """Keep the connection of the test over requests through the real WSGI door, as Django's client does."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def known(db, kept_connection):
    """What exists, by the name of the part of an address that asks for it."""
    run = make_finished_run(make_sut("toy"))
    scene = Job.objects.create(kind="render_scene", params={})
    finding = run.findings.first()
    names = {"run_id": run.pk, "campaign_id": run.campaign_id, "finding_id": finding.pk, "job_id": scene.pk}
    Dataset.objects.create(slug="streets", title="Streets", origin="scenes")
    names["regression_id"] = make_regression(make_family(1), {0: ("F" * 6, "P" * 6)}).pk
    return names | {"sha256": finding.thumbnails[0], "version": load_domain("driving").version}


@pytest.mark.parametrize(("path", "method", "details"), OPERATIONS)
def test_what_the_lab_answers_fits_the_schema_whatever_is_sent(path, method, details, known):
    operation = loaded[path][method.upper()]
    headers = {"Authorization": f"Bearer {create_token(by=make_user(Role.ADMIN), name='x', days=None).text}"}
    known["slug"] = next((slug for part, slug in SLUGS.items() if part in path), "toy")
    statuses = set()

    @hypothesis.settings(max_examples=8, deadline=None, derandomize=True, database=None)
    @hypothesis.given(case=operation.as_strategy())
    def ask(case):
        for name in set(known) & set(case.path_parameters):
            case.path_parameters[name] = known[name]
        with transaction.atomic():
            response = case.call_and_validate(headers=headers, checks=TRUE)
            transaction.set_rollback(True)
        statuses.add(response.status_code)

    ask()
    assert statuses <= {int(status) for status in details["responses"]}
    assert method != "get" or 200 in statuses
