"""How the lab writes numbers and stored values: 1,000; 78 %; $1.12; 62–89 %; p < 0.001."""

from math import ceil, floor, isfinite

MINUS = "−"


def write_count(value: float | int | None) -> str:
    """Return ``1,000``; an en dash where there is nothing."""
    return "–" if value is None else f"{round(value):,}"


def write_decimals(value: float | None, places: int = 2) -> str:
    """Return ``0.50`` or ``−0.50`` with a minus sign, never a minus zero; an en dash for nothing."""
    if value is None:
        return "–"
    rounded = round(value, places) + 0.0  # adding turns a negative zero into zero
    return f"{rounded:,.{places}f}".replace("-", MINUS)


def write_many(count: int, word: str) -> str:
    """Return ``1 set`` or ``1,204 sets``; ``"mode,modes"`` gives both forms, one word takes an s."""
    one, _, several = word.partition(",")
    return f"{write_count(count)} {one if count == 1 else several or one + 's'}"


def write_stored(value: object) -> str:
    """Return a stored value as people write it: ``yes``, ``cone, far``, ``budget 60; strict no``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{key} {write_stored(one)}" for key, one in value.items() if one not in ("", None))
    if isinstance(value, list | tuple):
        return ", ".join(map(write_stored, value))
    return "none" if value is None else str(value)


def write_all(count: int, word: str) -> str:
    """Return ``All 1,204 sets``, but ``1 set`` of a single one."""
    return write_many(count, word) if count == 1 else f"All {write_many(count, word)}"


def write_percent(share: float | None) -> str:
    """Return a share in [0, 1] as ``78 %``; never ``0 %`` or ``100 %`` for what is only nearly so."""
    if share is None or not isfinite(share):
        return "–"
    percent = floor(share * 100 + 0.5)
    if percent == 0 and share > 0:
        return "< 1 %"
    if percent == 100 and share < 1:
        return "> 99 %"
    return f"{percent} %"


def write_level(level: float) -> str:
    """Return the level of an interval: ``95 %``, or with one decimal where it is none of a whole percent."""
    percent = round(level * 100, 1)
    return (
        f"{percent:.0f} %" if percent == round(percent) and percent < 100 else f"{min(percent, 99.9):.1f} %"
    )


def write_interval(low: float, high: float) -> str:
    """Return two shares as ``62–89 %``."""
    return f"{floor(low * 100 + 0.5)}–{floor(high * 100 + 0.5)} %"


def write_money(usd: float | None) -> str:
    """Return ``$1.12``; sums below one cent keep two significant figures."""
    if usd is None:
        return "–"
    return f"${usd:.2g}" if 0 < abs(usd) < 0.01 else f"${usd:,.2f}"


def round_money_up(usd: float) -> float:
    """Return a sum rounded up as far as it is written: to cents, or below one cent to hundredths of one."""
    step = 1e-4 if usd < 0.01 else 0.01
    return round(ceil(usd / step - 1e-9) * step, 4)


def write_money_up(usd: float) -> str:
    """Return a sum rounded up as it is written, so that whoever enters it enters enough."""
    return write_money(round_money_up(usd))


def write_duration(seconds: float | None) -> str:
    """Return ``0.8 s``, ``40 s``, ``24 min`` or ``2 h 5 min``."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def write_latency(milliseconds: float | None) -> str:
    """Return ``230 ms`` or ``1.8 s``."""
    if milliseconds is None:
        return "–"
    return f"{round(milliseconds):,} ms" if milliseconds < 1000 else write_duration(milliseconds / 1000)


def write_bytes(size: float | None) -> str:
    """Return ``812 kB`` or ``1.4 MB`` (decimal units)."""
    if size is None:
        return "–"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{round(size)} B"


def write_p_value(p: float | None) -> str:
    """Return ``p < 0.001`` or ``p = 0.008``."""
    if p is None:
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"
