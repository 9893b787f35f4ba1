"""Words for the codes of the readers: why a reply was read as it was, and what was unusual about it."""

REASONS: dict[str, str] = {
    "valid_boxes": "",
    "sentinel": "It says in words that nothing is there.",
    "well_formed_empty": "It answered with an empty list: nothing is there.",
    "no_output": "Nothing was answered.",
    "unfinished_thinking": "It was still thinking when the reply ended.",
    "too_long": "The reply is too long to be read.",
    "no_structured_output": "The reply holds no box.",
    "invalid_box": "A box does not have exactly four numbers.",
    "out_of_range": "A box lies far outside of the picture, measured with the declared convention.",
    "suspect_scale": "All numbers lie between 0 and 1, which does not fit the declared scale.",
    "degenerate": "A box has no area.",
    "points_only": "It answered with points instead of boxes.",
    "truncated": "The reply ends in the middle of a list.",
    "structural_error": "The list is broken in the middle.",
    "revised_answer": "It corrected itself, so it is open which of its lists counts.",
    "contradiction": "It says that nothing is there and writes a box all the same.",
    "refusal": "The system refused, so what it wrote does not count.",
    "safety": "The provider's safety filter stopped it, so what it wrote does not count.",
}
"""Reason of the box reader -> one sentence; "" where there is nothing to explain."""

FLAGS: dict[str, str] = {
    "partial": "some boxes could not be read and were left out",
    "duplicates": "the same box stood there more than once and counts once",
    "sorted": "corners were given the wrong way round",
    "clipped": "a box was cut at the edge of the picture",
}


def reason_words(code: str) -> str:
    """Return why a reply was read as it was; an unknown code becomes words."""
    return REASONS.get(code, f"{_plain(code)}." if code else "")


def flag_words(code: str) -> str:
    """Return what was unusual about a reply; an unknown code becomes words."""
    return FLAGS.get(code, _plain(code).lower())


def _plain(code: str) -> str:
    return code.replace("_", " ").strip().capitalize()
