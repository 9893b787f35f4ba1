"""Memory of a worker that runs checkpoints: telling that it is gone, keeping it warm, giving it back."""

import ctypes
import gc
import sys

import torch

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 256 * 2**20
_LARGEST_KEPT_BLOCK = 32 * 2**20
# The CPU allocator, cuBLAS and cuDNN report it with a plain RuntimeError.
_SIGNS = ("out of memory", "allocate memory", "alloc_failed")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory is gone, on the device or on the machine."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def keep_freed_memory() -> None:
    """Let the C library keep freed memory for the next forward pass instead of returning it each time.

    A forward pass on the CPU frees and asks again for the same megabytes hundreds of times; giving
    them back in between cost 12 to 15 % of a pass of the shipped checkpoint in page faults. At most
    ``_KEPT_BYTES`` are kept, and ``release_memory`` returns them. Does nothing without glibc.
    """
    if sys.platform != "linux":
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        set_option(_M_MMAP_THRESHOLD, _LARGEST_KEPT_BLOCK)


def free_device_memory() -> None:
    """Drop what nothing refers to any more, so that the next pass finds all of the device's memory."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def release_memory() -> None:
    """Give freed memory back to the device and to the system."""
    free_device_memory()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
