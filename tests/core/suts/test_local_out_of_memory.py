"""Memory that runs out while a checkpoint answers: half the batch goes on, and says so."""

import weakref
from functools import wraps
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tests.core.suts.tiny_checkpoints")
asking = pytest.importorskip("tests.core.suts.local_asking")

loaded, question, one_thread = asking.loaded, asking.question, asking.one_thread


@pytest.fixture(scope="module")
def llava(tmp_path_factory) -> Path:
    return tiny.save_llava(tmp_path_factory.mktemp("llava"))


def test_lack_of_memory_halves_the_batch_and_shows_in_the_identity(llava, monkeypatch):
    sut = loaded(llava, batch_size=8)
    before, answer = sut.info, sut._loaded.model.generate

    def cramped(**inputs):
        if inputs["input_ids"].shape[0] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", cramped)
    rows = [question(number) for number in range(8)]
    texts = [reply.text for reply in sut.generate(rows)]

    assert texts == [reply.text for reply in loaded(llava, batch_size=2).generate(rows)]
    assert sut.info.batch_size == 2
    assert sut.info.fingerprint != before.fingerprint
    assert sut.info.details["batch size"].startswith("2 (lowered from 4: the device ran out of memory")


NO_MEMORY = "The device has too little memory for one row. Use a shorter prompt or a larger worker."


def fail_above(rows: int, inner, error: Exception, counted):
    """Let a step fail for more than so many rows, as a device does that has memory for just those."""

    @wraps(inner)  # generate looks at the names that forward takes
    def cramped(*args, **kwargs):
        if counted(*args, **kwargs) > rows:
            raise error
        return inner(*args, **kwargs)

    return cramped


def rows_of_ids(*_args, **kwargs):
    return kwargs["input_ids"].shape[0]


def decoding_rows(*_args, **kwargs):
    ids = kwargs["input_ids"]
    return ids.shape[0] if ids.shape[1] == 1 else 0


MEMORY_POINTS = {
    "preparing": lambda sut: (sut._inputs, "tensors", lambda rows, _options: len(rows)),
    "picture features": lambda sut: (
        sut._loaded.model.model, "get_image_features", lambda *args, **kw: len([*args, *kw.values()][0])
    ),
    "first pass": lambda sut: (sut._loaded.model, "forward", rows_of_ids),
    "decoding": lambda sut: (sut._loaded.model, "forward", decoding_rows),
}  # fmt: skip
GONE = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
MEMORY_ERRORS = {
    "preparing": MemoryError("Unable to allocate 1.2 GiB for an array"),
    "picture features": GONE,
    "first pass": RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    "decoding": GONE,
}


@pytest.mark.parametrize("point", MEMORY_POINTS)
def test_memory_may_run_out_anywhere_and_half_the_batch_goes_on(llava, monkeypatch, point):
    sut = loaded(llava)
    rows = [question(number) for number in range(4)]
    owner, name, counted = MEMORY_POINTS[point](sut)
    monkeypatch.setattr(owner, name, fail_above(2, getattr(owner, name), MEMORY_ERRORS[point], counted))

    replies = sut.generate(rows)

    assert [reply.call_error for reply in replies] == [""] * 4
    assert [reply.text for reply in replies] == [
        reply.text for reply in loaded(llava, batch_size=2).generate(rows)
    ]
    assert sut.info.batch_size == 2


@pytest.mark.parametrize("point", MEMORY_POINTS)
def test_memory_that_never_suffices_is_a_call_error_of_each_row(llava, monkeypatch, point):
    sut = loaded(llava)
    owner, name, counted = MEMORY_POINTS[point](sut)
    inner = getattr(owner, name)
    monkeypatch.setattr(owner, name, fail_above(0, inner, GONE, counted))

    replies = sut.generate([question(0), question(1)])

    assert [reply.call_error for reply in replies] == [NO_MEMORY] * 2
    assert sut.info.batch_size == 1 or point == "preparing"
    monkeypatch.setattr(owner, name, inner)
    assert not sut.generate([question(0)])[0].is_call_error


def test_a_failed_pass_lets_go_of_its_tensors_before_the_smaller_one(llava, monkeypatch):
    sut = loaded(llava)
    held, left, answer = [], [], sut._loaded.model.generate

    def cramped(**inputs):
        left.append(sum(one() is not None for one in held))
        if inputs["input_ids"].shape[0] > 1:
            large = torch.zeros(1000)
            held.append(weakref.ref(large))
            raise torch.OutOfMemoryError("CUDA out of memory")
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", cramped)

    assert not sut.generate([question(0)])[0].is_call_error
    assert (len(held), left) == (2, [0, 0, 0])
