"""Words for the codes of the readers: why a reply was read as it was, and what was unusual about it."""

REASONS: dict[str, str] = {
    "no_output": "Nothing was answered.",
    "unfinished_thinking": "It was still thinking when the reply ended.",
    "sentinel": "It says that nothing is there.",
    "no_items": "It answered with an empty list.",
    "empty_list": "It answered with an empty list.",
    "no_structured_output": "It answered in prose; no box stands in it.",
    "refusal": "It refused to answer.",
    "invalid_box": "A box does not have four numbers.",
    "out_of_range": "A box lies far outside of the picture, measured with the declared convention.",
    "suspect_scale": "All numbers lie between 0 and 1, which does not fit the declared scale.",
    "degenerate": "A box has no area.",
    "points_only": "It answered with points instead of boxes.",
    "truncated": "The reply ends in the middle of a list.",
    "structural_error": "The list is broken in the middle.",
    "too_long": "The reply is longer than any list of boxes.",
    "too_deep": "The reply is nested deeper than any list of boxes.",
}

FLAGS: dict[str, str] = {
    "partial": "some boxes of the reply could not be read",
    "sorted": "corners were the wrong way round",
    "clipped": "a box was cut at the edge of the picture",
    "swapped": "corners were the wrong way round",
    "absent": "a box of zeros counts as absent",
    "degenerate": "a box without area was left out",
    "out_of_range": "a box far outside of the picture was left out",
    "invalid_box": "a box without four numbers was left out",
    "suspect_scale": "numbers between 0 and 1 do not fit the declared scale",
    "finish_length": "the reply was cut off at the longest length",
}


def reason_words(code: str) -> str:
    """Return why a reply was read as it was; an unknown code becomes words."""
    return REASONS.get(code, f"{_plain(code)}." if code else "")


def flag_words(code: str) -> str:
    """Return what was unusual about a reply; an unknown code becomes words."""
    return FLAGS.get(code, _plain(code).lower())


def _plain(code: str) -> str:
    return code.replace("_", " ").strip().capitalize()
