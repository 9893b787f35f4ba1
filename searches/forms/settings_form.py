"""What the forms of systems and of picture sources share: settings in parts, errors at their field."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.db.models import Model, QuerySet
from django.utils.text import slugify
from pydantic import BaseModel, ValidationError

from searches.forms.sut_fields import form_field, shown_value, typed_value
from searches.services.sut_settings import Leaf, value_at, with_values
from vlmlab.core.complaints import config_errors
from vlmlab.core.errors import VlmLabError

MOST_SLUG_CHARACTERS = 64


@dataclass(frozen=True)
class SectionPlan:
    """One part of a form.

    Attributes:
        slug: its place in templates.
        title, help: for people.
        paths: settings in their order; those that a kind lacks are left out.
        is_folded: whether it is closed until somebody opens it.
    """

    slug: str
    title: str
    help: str
    paths: tuple[str, ...]
    is_folded: bool = False


@dataclass(frozen=True)
class Section:
    """One part of a form as the page draws it; ``rows`` are its fields with their width."""

    plan: SectionPlan
    rows: tuple[tuple[forms.BoundField, str], ...]
    is_open: bool

    @property
    def fields(self) -> tuple[forms.BoundField, ...]:
        """Return its fields."""
        return tuple(bound for bound, _ in self.rows)


def field_name(path: str) -> str:
    """Return the name of a setting's field: dots would be in the way of style sheets and scripts."""
    return path.replace(".", "__")


def short_name_field(help_text: str) -> forms.SlugField:
    """Return the field of a short name that is made from the name where it is left empty."""
    return forms.SlugField(
        label="Short name", max_length=MOST_SLUG_CHARACTERS, required=False, help_text=help_text
    )


class SettingsForm(forms.Form):
    """A form whose fields are the declared settings of a kind; the core checks them again.

    Attributes:
        plans: its parts in their order; settings that none names stand in ``rest``.
        wide: fields that take a whole row, beside those of several lines.
        model: declares the settings.
        base: settings that the form starts from and that keep what has no field.
        leaves: setting of each field.
    """

    plans: ClassVar[tuple[SectionPlan, ...]] = ()
    rest: ClassVar[SectionPlan]
    wide: ClassVar[frozenset[str]] = frozenset()
    model: type[BaseModel]
    base: dict[str, Any]
    leaves: dict[str, Leaf]

    def add_settings(self, settings: Iterable[Leaf]) -> None:
        """Give each setting a field that shows its value in the base."""
        self.leaves = {field_name(leaf.path): leaf for leaf in settings}
        for name, leaf in self.leaves.items():
            self.fields[name] = form_field(leaf)
            self.initial[name] = shown_value(value_at(self.base, leaf.path, default=leaf.default))

    def typed_values(self) -> dict[str, Any]:
        """Return what was typed into the fields of settings, by path; fields with errors are left out."""
        return {
            leaf.path: typed_value(leaf, self.cleaned_data.get(name))
            for name, leaf in self.leaves.items()
            if name not in self.errors and self._was_sent(name)
        }

    def _was_sent(self, name: str) -> bool:
        """Whether a field was on the page that was sent; a checkbox that is off is not among what is sent."""
        return name in self.data or isinstance(self.fields[name], forms.BooleanField)

    def params(self) -> dict[str, Any]:
        """Return the settings as the core takes them; what has no field keeps the value of the base."""
        return with_values(self.base, self.typed_values())

    def check_settings(self) -> None:
        """Put every complaint of the core about the settings at its field."""
        try:
            self.model.model_validate(self.params())
        except ValidationError as error:
            for complaint in config_errors(error, self.model):
                self.add_core_error(complaint)

    def add_core_error(self, error: VlmLabError) -> None:
        """Put an error of the core or a service at its field, in the words of this form."""
        name = self.field_of(error.field or "")
        if name is not None and name in self.errors:
            return  # the field has said already what is wrong with what was typed
        is_setting = name in self.leaves
        text = (
            error.message.partition("): ")[2] if is_setting and f"({error.field}): " in error.message else ""
        )
        self.add_error(name, text or str(error))

    def field_of(self, path: str) -> str | None:
        """Return the field of a setting, or of the group that it stands in; None where none is."""
        while path:
            if field_name(path) in self.fields:
                return field_name(path)
            path = path.rpartition(".")[0]
        return None

    def settle_slug(
        self,
        cleaned: dict[str, Any],
        *,
        rows: QuerySet[Model],
        taken: Collection[str],
        refusal: str,
        what: str,
    ) -> None:
        """Make the short name where it was left empty, and see that it is free.

        Args:
            cleaned: what the form holds; it holds the short name afterwards.
            rows: that have short names already.
            taken: names that the site needs for itself; ``refusal`` says so.
            refusal: for a name that cannot be one.
            what: the rows are, for people.
        """
        slug = cleaned.get("slug") or slugify(cleaned.get("name", ""))[:MOST_SLUG_CHARACTERS]
        if "slug" not in self.errors and cleaned.get("name"):
            if not slug or slug in taken:
                self.add_error("slug", refusal)
            elif rows.filter(slug=slug).exists():
                self.add_error("slug", f"There is already a {what} called “{slug}”. Choose another name.")
        cleaned["slug"] = slug

    def sections(self) -> Iterator[Section]:
        """Yield the parts of the form; settings that no part names stand in the last, folded one."""
        placed: set[str] = set()
        for plan in self.plans:
            names = [name for path in plan.paths if (name := field_name(path)) in self.fields]
            placed.update(names)
            if names:
                yield self._section(plan, names)
        rest = [name for name in self.leaves if name not in placed]
        if rest:
            yield self._section(self.rest, rest)

    def _section(self, plan: SectionPlan, names: list[str]) -> Section:
        has_errors = any(name in self.errors for name in names)
        rows = tuple((self[name], "full" if self._is_long(name) else "") for name in names)
        return Section(plan, rows, is_open=has_errors or not plan.is_folded)

    def _is_long(self, name: str) -> bool:
        return name in self.wide or isinstance(self.fields[name].widget, forms.Textarea)
