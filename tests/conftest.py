"""What every test shares: folders of its own, so that no test writes beside the code."""

import pytest


@pytest.fixture(autouse=True)
def own_folders(settings, tmp_path):
    """Give each test its own data, blob, model and scene folders."""
    settings.DATA_DIR = tmp_path
    settings.BLOB_DIR = tmp_path / "blobs"
    settings.MODEL_DIR = tmp_path / "models"
    settings.SCENE_CACHE_DIR = tmp_path / "scenes"
