"""Forms of word tables: what shall be asked for, and the review of a page of labels."""

from typing import Any

from django import forms
from django.http import QueryDict

from searches.enums import DatasetState, WordTableKind
from searches.models import Dataset, SutRecord
from searches.services.word_table_drafts import MOST_LABELS, checked_labels, dataset_labels
from searches.services.word_table_pages import LABELS_A_PAGE, answering_suts
from searches.services.word_table_review import Decision
from vlmlab.core.errors import VlmLabError
from vlmlab.core.perturb.word_table_requests import MOST_CHARACTERS
from vlmlab.core.perturb.word_tables import TableKind

MOST_TYPED_CHARACTERS = 200_000
MOST_ALTERNATIVES_SHOWN = 16


class WordTableForm(forms.Form):
    """A table to ask for."""

    title = forms.CharField(max_length=120, help_text="Shown where a search chooses its tables.")
    kind = forms.ChoiceField(choices=WordTableKind.choices, widget=forms.RadioSelect, initial="synonym")
    labels = forms.CharField(
        required=False,
        max_length=MOST_TYPED_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=f"One a line, up to {MOST_LABELS:,}.",
    )
    dataset = forms.ChoiceField(
        required=False, label="Labels of a dataset", help_text="Added to those above."
    )
    skips_shipped = forms.BooleanField(
        label="Only labels without an entry",
        required=False,
        initial=True,
        help_text="Leave out what the shipped table already has words for.",
    )
    sut = forms.ModelChoiceField(
        queryset=SutRecord.objects.none(),
        label="System",
        empty_label=None,
        to_field_name="slug",
        help_text="A large language model does this well; the paper took gpt-oss-120b. Small checkpoints do "
        "not. Each question carries an empty grey picture, because every call to a system has one.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        suts = self.fields["sut"]
        assert isinstance(suts, forms.ModelChoiceField)
        suts.queryset = answering_suts()
        choice = self.fields["dataset"]
        assert isinstance(choice, forms.ChoiceField)
        ready = Dataset.objects.filter(state=DatasetState.READY, n_pictures__gt=0).values_list(
            "slug", "title"
        )
        choice.choices = [("", "None"), *ready]

    @property
    def kind_of_table(self) -> TableKind:
        """The chosen kind, as the core names it."""
        return "homophone" if self.cleaned_data["kind"] == "homophone" else "synonym"

    def clean(self) -> dict[str, Any]:
        """Bring the labels together, and say at the field what is wrong with one."""
        cleaned = super().clean() or {}
        if "labels" not in cleaned or "kind" not in cleaned:
            return cleaned
        labels = cleaned["labels"].splitlines()
        dataset = Dataset.objects.filter(slug=cleaned.get("dataset") or None).first()
        if dataset is not None:
            labels += dataset_labels(dataset)
        try:
            cleaned["wanted"] = checked_labels(
                labels, self.kind_of_table, skips_shipped=cleaned.get("skips_shipped", False)
            )
        except VlmLabError as error:
            self.add_error("labels", str(error))
        return cleaned


def read_decisions(data: QueryDict) -> list[Decision]:
    """Return what a page of the review says; fields that are not as the page writes them are passed over.

    ``do`` is ``save``, ``accept`` (everything on the page) or ``refuse``.
    """
    action = data.get("do", "save")
    found: list[Decision] = []
    for number in range(LABELS_A_PAGE):
        label = data.get(f"label-{number}", "")[: MOST_CHARACTERS + 1]
        if not label:
            continue
        for place in range(MOST_ALTERNATIVES_SHOWN):
            text = data.get(f"alt-{number}-{place}", "")[: MOST_CHARACTERS + 1]
            if text:
                is_ticked = f"ok-{number}-{place}" in data
                is_accepted = is_ticked if action == "save" else action == "accept"
                wanted = data.get(f"text-{number}-{place}", text)[: MOST_CHARACTERS + 1]
                found.append(Decision(label, text, wanted, is_accepted))
        own = data.get(f"own-{number}", "")[: MOST_CHARACTERS + 1]
        if own.strip():
            found.append(Decision(label, "", own, is_accepted=True))
    return found
