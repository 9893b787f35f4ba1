"""What a person can register: presets by family, and the kinds of systems."""

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from vlmlab.core.suts.kinds import SUT_KINDS, SutKind

if TYPE_CHECKING:
    from vlmlab.core.suts.presets import SutPreset


@dataclass(frozen=True)
class Offer:
    """A preset, with what its note says of it alone."""

    preset: "SutPreset"
    note: str


@dataclass(frozen=True)
class PresetGroup:
    """The presets of one family, with what holds for all of them."""

    family: str
    note: str
    offers: tuple[Offer, ...]


def registrable_kinds() -> list[SutKind]:
    """Return the kinds that may be registered in the browser."""
    return [kind for kind in SUT_KINDS.values() if kind.is_web_registrable]


def preset_groups() -> list[PresetGroup]:
    """Return all presets, grouped by family, families in the order of the table."""
    from vlmlab.core.suts.presets import SUT_PRESETS

    order = {
        family: place for place, family in enumerate(dict.fromkeys(p.family for p in SUT_PRESETS.values()))
    }
    listed = sorted(SUT_PRESETS.values(), key=lambda preset: order[preset.family])
    return [_group(family, tuple(rows)) for family, rows in groupby(listed, key=lambda one: one.family)]


def find_preset(name: str) -> "SutPreset | None":
    """Return a preset by its name, or None."""
    from vlmlab.core.suts.presets import SUT_PRESETS

    return SUT_PRESETS.get(name)


def _group(family: str, presets: "tuple[SutPreset, ...]") -> PresetGroup:
    """Say once what all notes of a family end with."""
    notes = [preset.note.split(". ") for preset in presets]
    n_shared = 0
    while len(presets) > 1 and all(len(note) > n_shared for note in notes):
        if len({note[-1 - n_shared] for note in notes}) > 1:
            break
        n_shared += 1
    shared = ". ".join(notes[0][len(notes[0]) - n_shared :])
    offers = tuple(Offer(preset, preset.note.removesuffix(shared).rstrip()) for preset in presets)
    return PresetGroup(family, shared, offers)
