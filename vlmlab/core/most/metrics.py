"""What a returned test case costs and does, in numbers: likeness of picture and prompt, and SWTD."""

from vlmlab.core.most.similarity import ms_ssim

__all__ = ["ms_ssim", "normalized_edit_distance", "swtd", "swtd_mean"]

DROP_WEIGHT = 0.5
_ROUNDING = 1e-9  # by which an IoU may leave [0, 1] in floating point


def swtd(iou_clean: float, iou_perturbed: float, ms_ssim: float, ned: float) -> float:
    """Return the similarity-weighted target drop of a test case (our reading, no formula is published).

    ``0.5 D + 0.5 (1 - A)``, where ``D`` is the share of the clean IoU that was lost, from 0 to 1, and ``A``
    how much the input was altered: ``1 - (1 - A_img) (1 - A_txt)`` with ``A_img = 1 - ms_ssim`` and
    ``A_txt = ned``. A modality that was not touched changes nothing, so regimes can be compared.

    Args:
        iou_clean: set IoU of the answer to the clean input, in (0, 1].
        iou_perturbed: set IoU of the answer to the perturbed input, in [0, 1]; 0 without boxes.
        ms_ssim: likeness of the pictures, in [0, 1]; 1 where the picture was not touched.
        ned: normalized edit distance of the prompts, in [0, 1]; 0 where the prompt was not touched.

    Returns:
        A value in [0, 1]; 1 when all is lost and nothing was altered, 0.5 for no change at all.

    Raises:
        ValueError: a value is out of range or missing.
    """
    drop = _lost_share(iou_clean, iou_perturbed)
    alteration = 1.0 - _share("ms_ssim", ms_ssim) * (1.0 - _share("ned", ned))
    return DROP_WEIGHT * drop + (1.0 - DROP_WEIGHT) * (1.0 - alteration)


def swtd_mean(iou_clean: float, iou_perturbed: float, ms_ssim: float, ned: float) -> float:
    """Return SWTD with the mean of both alterations in place of their union, to see what hangs on that.

    ``A = (A_img + A_txt) / 2``: half as strict with a change of one modality alone. Arguments, range and
    errors are those of ``swtd``.
    """
    drop = _lost_share(iou_clean, iou_perturbed)
    alteration = (1.0 - _share("ms_ssim", ms_ssim) + _share("ned", ned)) / 2.0
    return DROP_WEIGHT * drop + (1.0 - DROP_WEIGHT) * (1.0 - alteration)


def normalized_edit_distance(a: str, b: str) -> float:
    """Return how much of two texts differs: Levenshtein's distance over the length of the longer one.

    Insertions, deletions and replacements of code points count 1 each. The columns of the table of distances
    are kept as bits (Myers 1999 in the form of Hyyrö 2003), so that 10,000 characters take milliseconds.

    Args:
        a: any text.
        b: any text.

    Returns:
        A value in [0, 1]: 0 for equal texts, also two empty ones; the same for ``(b, a)``.
    """
    longer = max(len(a), len(b))
    return _edit_distance(a, b) / longer if longer else 0.0


def _edit_distance(a: str, b: str) -> int:
    a, b = _without_shared_ends(a, b)
    if not a or not b:
        return len(a) + len(b)
    places: dict[str, int] = {}
    for number, sign in enumerate(a):
        places[sign] = places.get(sign, 0) | 1 << number
    everything, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    more, fewer = everything, 0  # where a column of the table rises and where it falls, one bit a row
    distance = len(a)
    for sign in b:
        equal = places.get(sign, 0)
        diagonal = equal | fewer
        across = (((equal & more) + more) ^ more) | equal
        rises = fewer | ~(across | more) & everything
        falls = more & across
        distance += bool(rises & last) - bool(falls & last)
        rises = (rises << 1 | 1) & everything
        falls = falls << 1 & everything
        more = falls | ~(diagonal | rises) & everything
        fewer = rises & diagonal
    return distance


def _without_shared_ends(a: str, b: str) -> tuple[str, str]:
    """Return both texts without the beginning and the end that they share: no shortest edit touches them."""
    shortest = min(len(a), len(b))
    start = next((place for place in range(shortest) if a[place] != b[place]), shortest)
    rest = shortest - start
    end = next((place for place in range(rest) if a[-1 - place] != b[-1 - place]), rest)
    return a[start : len(a) - end], b[start : len(b) - end]


def _lost_share(iou_clean: float, iou_perturbed: float) -> float:
    clean, perturbed = _share("iou_clean", iou_clean), _share("iou_perturbed", iou_perturbed)
    if clean == 0.0:
        raise ValueError("iou_clean must be above 0: there is nothing to lose")
    return min(1.0, max(0.0, (clean - perturbed) / clean))


def _share(name: str, value: float) -> float:
    if not -_ROUNDING <= value <= 1.0 + _ROUNDING:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")
    return min(1.0, max(0.0, float(value)))
