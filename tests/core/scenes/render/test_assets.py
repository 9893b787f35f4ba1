"""Every mesh pack is there, readable, and says who made it."""

import ast
from pathlib import Path

import numpy as np
import pytest

import vlmlab.core.scenes.render as render
from vlmlab.core.scenes.render.credits import ASSETS, attributions
from vlmlab.core.scenes.render.packs import asset_digest, load_pack

NAMES = sorted(path.stem for path in ASSETS.glob("*.npz"))


def test_every_pack_is_listed_once_with_licence_source_and_change():
    assert [row.asset for row in attributions()] == NAMES
    for row in attributions():
        assert row.title
        assert row.author
        assert row.source
        assert row.source_address.startswith("https://")
        assert row.licence_address.startswith("https://creativecommons.org/")
        assert row.modified == "decimated, repacked"


def test_only_free_licences_are_used():
    assert {row.licence.split(" (")[0] for row in attributions()} == {"CC-BY 3.0", "CC0 1.0"}


def test_every_pack_that_a_builder_names_exists_and_none_is_left_over():
    named = set()
    for path in (Path(render.__file__).parent / "builders").glob("*.py"):
        tree = ast.parse(path.read_text())
        named |= {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in NAMES
        }

    assert named == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_pack_stands_on_the_ground_in_metres_with_unit_normals(name):
    mesh = load_pack(name)

    low, high = mesh.bounds
    assert abs(low[2]) < 0.02
    assert 0.07 < high[2] < 15  # a loaf of bread to a tree
    assert mesh.material_of.max() < len(mesh.materials)
    lengths = np.linalg.norm(mesh.normals, axis=-1)
    assert np.median(lengths) == pytest.approx(1, abs=0.02)


def test_asset_digest_is_sixteen_hex_digits():
    assert len(asset_digest()) == 16
    assert int(asset_digest(), 16) >= 0
