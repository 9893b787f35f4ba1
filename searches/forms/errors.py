"""Puts a ``VlmLabError`` where it belongs on a form."""

from collections.abc import Mapping

from django import forms

from vlmlab.core.errors import VlmLabError


def add_lab_error(form: forms.Form, error: VlmLabError, *, fields: Mapping[str, str] | None = None) -> None:
    """Add an error to the field it names, or to the whole form.

    Args:
        form: a bound form.
        error: what the core or a service raised.
        fields: name in the error -> name in the form, where they differ.
    """
    name = (fields or {}).get(error.field or "", error.field)
    form.add_error(name if name in form.fields else None, str(error))
