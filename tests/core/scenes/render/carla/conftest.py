"""Real Scenic and the real client on a server of paper; Scenic's own files are parsed once, programs kept."""

import ast
import functools
import importlib.util

import pytest

HAS_PACKAGES = all(importlib.util.find_spec(name) for name in ("carla", "scenic"))
collect_ignore_glob = [] if HAS_PACKAGES else ["test_*.py"]


def _copied(node):
    if isinstance(node, ast.AST):
        twin = ast.AST.__new__(type(node))
        twin.__dict__.update({name: _copied(value) for name, value in node.__dict__.items()})
        return twin
    if isinstance(node, list):
        return [_copied(one) for one in node]
    return tuple(_copied(one) for one in node) if isinstance(node, tuple) else node


@pytest.fixture(autouse=True, scope="session")
def programs_compiled_once():
    """Parsing Scenic's world models takes a second for each program, and they are the same every time."""
    from scenic.syntax import translator

    from vlmlab.core.scenes.render.carla import sampling

    parse = translator.parse_string
    parse_once = functools.lru_cache(maxsize=16)(
        lambda source, mode, filename: parse(source, mode, filename=filename)
    )

    def parse_string(source, mode, filename=None):
        if len(source) < 3_000 or "param carla_map =" in source[:400]:
            return parse(source, mode, filename=filename)
        return _copied(parse_once(source, mode, filename))

    patch = pytest.MonkeyPatch()
    patch.setattr(translator, "parse_string", parse_string)
    patch.setattr(sampling, "_compiled", functools.lru_cache(maxsize=64)(sampling._compiled.__wrapped__))
    yield
    patch.undo()


@pytest.fixture
def server(monkeypatch):
    import carla

    from tests.core.scenes.render.carla import fake_actors, fake_carla
    from vlmlab.core.scenes.render.carla.crossing import crossing_file

    server = fake_carla.Server(town_xodr=crossing_file())
    monkeypatch.setattr(carla, "Client", server.client)
    monkeypatch.setattr(carla, "Vehicle", fake_actors.Vehicle)
    monkeypatch.setattr(carla, "Walker", fake_actors.Walker)
    return server
