"""Form fields that stand what a browser would never send."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from vlmlab.web.asked import asked_number


class RowsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # takes none at run time
    """Rows chosen by number; a number that no column holds is refused like any other that names no row."""

    def clean(self, value: Iterable[Any] | None) -> QuerySet[Any]:
        """Return the chosen rows."""
        for one in value if isinstance(value, list | tuple) else ():
            text = str(getattr(one, "pk", one))
            if text.isdigit() and asked_number(text) is None:
                raise ValidationError(
                    self.error_messages["invalid_choice"], code="invalid_choice", params={"value": text[:40]}
                )
        rows: QuerySet[Any] = super().clean(value)
        return rows
