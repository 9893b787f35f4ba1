"""The form of an operating envelope: facts, a row a cell; which systems get a card; files."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms import BaseFormSet
from django.http import QueryDict

from searches.forms.gate_cells import CellForm, CellFormSet, cell_values
from searches.models import Envelope, SutRecord
from searches.services.domain_store import current_domains, find_domain
from searches.services.envelope_text import short_name
from searches.services.envelopes import StoredEnvelope
from searches.services.source_obstacles import all_source_choices
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.verdicts.envelope import MOST_CELLS
from vlmlab.web.numbers import write_percent

LEVELS = ("0.9", "0.95", "0.99")


class EnvelopeForm(forms.Form):
    """Name, domain, confidence, and the kind of picture."""

    name = forms.CharField(max_length=120, help_text="Such as “Stops for near obstacles in any weather”.")
    domain = forms.ChoiceField(choices=[])
    level = forms.ChoiceField(
        label="Confidence",
        choices=[(level, write_percent(float(level))) for level in LEVELS],
        initial="0.95",
        help_text="All bounds of a card hold together at this level.",
    )
    backend = forms.ChoiceField(label="Pictures from", choices=[], initial="embedded")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        domains, backend = self.fields["domain"], self.fields["backend"]
        assert isinstance(domains, forms.ChoiceField)
        assert isinstance(backend, forms.ChoiceField)
        choices = [(one.slug, one.title) for one in current_domains()]
        kept = str(self.initial.get("domain", ""))
        if "@" in kept:
            choices.insert(0, (kept, f"{find_domain(kept).title}, as declared"))
        domains.choices = choices
        backend.choices = all_source_choices()
        own = str(self.initial.get("level", "0.95"))
        level = self.fields["level"]
        assert isinstance(level, forms.ChoiceField)
        if own not in LEVELS:
            known = [(value, write_percent(float(value))) for value in (*LEVELS, own)]
            level.choices = known


class EnvelopeEditor:
    """The whole form: facts and cells, bound or not, with what was clicked.

    Attributes:
        form, cells: facts, and a form a cell.
        do: "save", "add", or "preview".
    """

    def __init__(
        self, data: QueryDict | None = None, *, initial: Mapping[str, Any] | None = None, ref: str = ""
    ) -> None:
        start = dict(initial or {})
        facts: dict[str, Any] = {name: start[name] for name in ("name", "level", "backend") if name in start}
        facts |= {"domain": ref} if ref else {}
        self._kept: dict[str, Any] = {
            name: start[name] for name in ("image_width", "image_height") if name in start
        }
        self.do = data.get("do", "save") if data is not None else ""
        self.form = EnvelopeForm(data, initial=facts)
        self.domain = _domain(str(self.form["domain"].value() or ""), self.form)
        cells = start.get("cells") or [{}]
        self.cells: BaseFormSet[CellForm] = CellFormSet(
            _with_new_row(data) if self.do == "add" else data,
            prefix="cells",
            initial=[cell_values(self.domain, one) if one else {} for one in cells],
            form_kwargs={"domain": self.domain},
        )

    def is_valid(self) -> bool:
        """Whether every field can be read."""
        is_fine = self.form.is_valid()
        return self.cells.is_valid() and is_fine

    @property
    def values(self) -> dict[str, Any]:
        """The envelope as services read it; of a valid editor."""
        kept = [one for one in self.cells if not one.cleaned_data.get("DELETE")]
        taken: list[str] = [one.cleaned_data["id"] for one in kept if one.cleaned_data.get("id")]
        cells = []
        for one in kept:
            name = one.cleaned_data.get("id") or short_name(one.cleaned_data["title"], taken)
            taken.append(name)
            cells.append(one.values(name))
        facts = self.form.cleaned_data
        return {
            "name": facts["name"],
            "level": float(facts["level"]),
            "backend": facts["backend"],
            "cells": cells,
            **self._kept,
        }

    def add_error(self, error: VlmLabError) -> None:
        """Put an error of the services at its field or row."""
        parts = (error.field or "").split(".")
        kept = [one for one in self.cells if not one.cleaned_data.get("DELETE")]
        if parts[0] == "cells" and len(parts) > 1 and parts[1].isdigit() and int(parts[1]) < len(kept):
            row = kept[int(parts[1])]
            name = parts[2] if len(parts) > 2 and parts[2] in row.fields else "includes"
            row.add_error(name, str(error))
        else:
            self.form.add_error(parts[0] if parts[0] in self.form.fields else None, str(error))

    @property
    def first_problem(self) -> str:
        """The first thing that is wrong and not only missing, with the title of its cell; "" for nothing."""
        for cell in self.cells:
            for found in cell.errors.as_data().values():
                told = next((one for one in found if one.code != "required"), None)
                if told is not None:
                    return f"{cell['title'].value() or 'A cell'}: {' '.join(told.messages)}"
        return ""

    @property
    def has_errors(self) -> bool:
        """Whether something is wrong that a person must see."""
        return bool(self.form.errors) or any(one.errors for one in self.cells)


class CardForm(forms.Form):
    """Which systems get a card."""

    suts = forms.ModelMultipleChoiceField(
        queryset=SutRecord.objects.none(),
        to_field_name="slug",
        label="Systems",
        widget=forms.CheckboxSelectMultiple,
        help_text="All are asked the same sets on the same scenes.",
    )
    spend_cap_usd = forms.FloatField(
        label="Spending limit",
        required=False,
        min_value=0.01,
        max_value=1e6,
        help_text="US dollars a system; it pauses before it would cost more.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["suts"]
        assert isinstance(choice, forms.ModelMultipleChoiceField)
        choice.queryset = SutRecord.objects.filter(is_enabled=True).order_by("name")


class EnvelopeFileForm(forms.Form):
    """An envelope as YAML or JSON."""

    file = forms.FileField(
        label="Envelope file", help_text="YAML or JSON, as a page of an envelope gives it."
    )


def editor_of(envelope: Envelope, data: QueryDict | None = None) -> EnvelopeEditor:
    """Return the editor of a stored envelope."""
    return EnvelopeEditor(data, initial=envelope.spec, ref=f"{envelope.domain}@{envelope.domain_version}")


def stored_or_none(editor: EnvelopeEditor) -> StoredEnvelope | None:
    """Return the envelope of a valid editor without checking its cells; None where a value is refused."""
    from vlmlab.core.complaints import checked_settings

    try:
        return checked_settings(StoredEnvelope, editor.values)
    except VlmLabError as error:
        editor.add_error(error)
        return None


def _domain(slug: str, form: EnvelopeForm) -> Domain:
    field = form.fields["domain"]
    assert isinstance(field, forms.ChoiceField)
    known: Sequence[str] = [str(value) for value, _ in field.choices]  # type: ignore[misc,union-attr]  # flat
    return find_domain(slug if slug in known else known[0])


def _with_new_row(data: QueryDict | None) -> QueryDict | None:
    """Return what was sent with one row more."""
    if data is None:
        return None
    more = data.copy()
    count = str(more.get("cells-TOTAL_FORMS", "1"))
    number = int(count) if count.isascii() and count.isdigit() and len(count) < 4 else 1
    more["cells-TOTAL_FORMS"] = str(min(number + 1, MOST_CELLS))
    return more
