"""What every test shares: folders of its own, so that no test writes beside the code."""

import gc
import os

import hypothesis
import pytest
from django.db import connection

from tests.patience import PATIENCE_SECONDS

# The same examples in every run, so that a verdict can be repeated; HYPOTHESIS_PROFILE=explore looks further.
# A machine that is slow or busy is no failure.
PATIENT = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("repeatable", derandomize=True, **PATIENT)
hypothesis.settings.register_profile("explore", **PATIENT)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    """Keep SQLite's test database in a file of this process, as the lab keeps its own.

    In memory all threads of a live server share one connection: a page that is polled meets the transaction
    of a click, and either of them may fail. With a file they wait for each other.
    """
    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "tests.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)
        connection.settings_dict["OPTIONS"]["timeout"] = PATIENCE_SECONDS  # for eighty writers at once


@pytest.fixture(autouse=True)
def own_folders(settings, tmp_path):
    """Give each test its own data, blob, model and scene folders."""
    settings.DATA_DIR = tmp_path
    settings.BLOB_DIR = tmp_path / "blobs"
    settings.MODEL_DIR = tmp_path / "models"
    settings.SCENE_CACHE_DIR = tmp_path / "scenes"


def pytest_collection_modifyitems(items):
    """Run the browser tests last: their driver leaves an event loop running in the process.

    Tests that start a loop of their own, or fork workers, must not come after it.
    """
    items.sort(key=lambda item: "e2e" in item.path.parts)


def pytest_collection_finish():
    """Leave what the imports of all tests made out of garbage collections; half a second each otherwise."""
    gc.collect()
    gc.freeze()
