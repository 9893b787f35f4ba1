"""Which errors mean that memory is gone, and that telling the C library about it harms nothing."""

import ctypes

import pytest

torch = pytest.importorskip("torch")
memory = pytest.importorskip("vlmlab.core.suts.local_memory")


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        MemoryError(),
        MemoryError("Unable to allocate 1.2 GiB for an array"),
    ],
)
def test_every_way_to_say_that_memory_is_gone_is_known(error):
    assert memory.is_out_of_memory(error)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("shape mismatch"), ValueError("picture out of memory lane"), KeyError("alloc_failed")],
)
def test_other_errors_are_not_taken_for_it(error):
    assert not memory.is_out_of_memory(error)


def test_memory_settings_are_left_alone_where_the_library_does_not_know_them(monkeypatch):
    asked = []

    class Bare:
        def __init__(self, name):
            asked.append(name)

    monkeypatch.setattr(ctypes, "CDLL", Bare)
    monkeypatch.setattr(memory.sys, "platform", "linux")

    memory.keep_freed_memory()
    memory.release_memory()

    assert asked == [None, None]


def test_memory_settings_are_left_alone_on_other_systems(monkeypatch):
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("asked for the C library"))

    memory.keep_freed_memory()
    memory.release_memory()
