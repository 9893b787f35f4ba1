"""What can be wrong with foreign files, rows and pictures, each kind with what to do about it."""

from collections.abc import Mapping

from vlmlab.core.errors import VlmLabError

KINDS: Mapping[str, str] = {
    "name": "Rename it with plain letters, and keep links and devices out.",
    "file": "Export it again, or leave it out.",
    "format": "Choose the format by hand, or add the file that describes the pictures.",
    "row": "Correct the row, or take it out.",
    "label": "Give the thing a label of plain text, at most 100 characters.",
    "class_name": "Add the file that names the classes, or map the class to a label.",
    "stratum": "Name the kind of scene in at most 32 characters.",
    "missing_picture": "Add the picture, or take its rows out.",
    "ambiguous_picture": "Write the path of the picture with its folders.",
    "named_twice": "Keep one of the files that describe the picture.",
    "not_named": "Describe it in a file, or leave it out.",
    "crowd": "Nothing: a region of many things has no box that could be the answer.",
    "box": "Correct the box, or take it out.",
    "outside": "Check that the boxes belong to this picture and are in pixels of it.",
    "no_area": "Draw the box again, or take it out.",
    "mask": "Nothing: the box is used without its mask.",
    "picture": "Open it in an image program and save it again as PNG or JPEG.",
    "too_small": "Use a larger picture.",
    "size": "Use the picture that the boxes were drawn on.",
    "rotation": "Say in the settings whether boxes lie in the upright or in the stored picture.",
    "same_picture": "Keep one of them.",
    "hole": "Correct the row: without it nobody knows what the picture shows.",
    "nothing_to_ask": "Nothing: a picture without a thing that can be asked for is no seed image.",
}
"""Kind of a fault -> what to do about it."""


class SeedImportError(VlmLabError):
    """A whole import cannot go on."""


class FaultError(ValueError):
    """Something foreign is wrong; whoever catches it knows the place.

    Args:
        kind: one of ``KINDS``.
        reason: the end of a sentence whose subject is the place.
        hint: what to do, where the kind's own hint does not fit.
    """

    def __init__(self, kind: str, reason: str, *, hint: str = "") -> None:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.hint = hint or KINDS[kind]
