"""A column for secrets: Python holds a ``Sealed``, the database and every dump its token."""

from typing import TYPE_CHECKING, Any

from django.db import models

from vlmlab.web.sealing import Sealed

if TYPE_CHECKING:
    _TextField = models.TextField[Sealed, Sealed]
else:  # at run time Django's fields take no type arguments
    _TextField = models.TextField


class SealedTextField(_TextField):
    """Stores a ``Sealed``; plain text is refused, so that no secret is written by mistake."""

    def from_db_value(self, value: str | None, *_: Any) -> Sealed | None:
        """Wrap what the database gives."""
        return None if value is None else Sealed(value)

    def to_python(self, value: Any) -> Sealed | None:
        """Wrap what a fixture gives: a token."""
        return value if value is None or isinstance(value, Sealed) else Sealed(str(value))

    def get_prep_value(self, value: Any) -> str | None:
        """Return the token to store.

        Raises:
            TypeError: the value is not sealed.
        """
        if value is None:
            return None
        if not isinstance(value, Sealed):
            raise TypeError("only a Sealed may be stored in a column for secrets")
        return value.token

    def value_to_string(self, obj: models.Model) -> str:
        """Return the token, for dumps."""
        return self.get_prep_value(self.value_from_object(obj)) or ""
