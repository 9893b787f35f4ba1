"""Gives each fault test a lab on SQLite, and on PostgreSQL where a server is named.

A test run whose own database is PostgreSQL takes that server and leaves the labs on SQLite out.
"""

import itertools
import os
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, connections

from tests.searches.faults.lab import FAST, Lab, database_of, postgres_database, sqlite_database

OWN = os.environ.get("VLMLAB_DATABASE_URL", "")
IS_OWN = OWN.startswith("postgres")
SERVER = os.environ.get("VLMLAB_TEST_DATABASE_URL", "") or (OWN if IS_OWN else "")
_number = itertools.count(1)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory, django_db_blocker) -> Path:
    path = tmp_path_factory.mktemp("template") / "lab.sqlite3"
    values = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path), "OPTIONS": {}}
    with django_db_blocker.unblock(), database_of(values):
        call_command("migrate", verbosity=0)
    return path


@pytest.fixture(scope="session")
def postgres_template(django_db_blocker) -> str:
    name = f"vlmlab_faults_{os.getpid()}"
    with django_db_blocker.unblock():
        with database_of(postgres_database(SERVER, name="postgres")):
            _statement(f'CREATE DATABASE "{name}"')
        with database_of(postgres_database(SERVER, name=name)):
            call_command("migrate", verbosity=0)
        yield name
        with database_of(postgres_database(SERVER, name="postgres")):
            _statement(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def lab(request, settings, tmp_path, django_db_blocker):
    for name, value in FAST.items():
        setattr(settings, name, value)
    if request.param == "postgres":
        if not SERVER:
            pytest.skip("no PostgreSQL server is named")
        yield from _on_postgres(request.getfixturevalue("postgres_template"), tmp_path, django_db_blocker)
        return
    if IS_OWN:
        pytest.skip("this run is about PostgreSQL")
    template = request.getfixturevalue("sqlite_template")
    values = sqlite_database(tmp_path / "lab.sqlite3", template=template)
    with django_db_blocker.unblock(), database_of(values) as database:
        made = Lab(database, tmp_path)
        yield made
        made.close()


def _on_postgres(template, tmp_path, django_db_blocker):
    name = f"{template}_{next(_number)}"
    server = postgres_database(SERVER, name="postgres")
    with django_db_blocker.unblock():
        with database_of(server):
            _statement(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        with database_of(postgres_database(SERVER, name=name)) as database:
            made = Lab(database, tmp_path)
            yield made
            made.close()
        with database_of(server):
            _statement(f'DROP DATABASE "{name}" WITH (FORCE)')


def _statement(sql: str) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(sql)
    connection.close()
