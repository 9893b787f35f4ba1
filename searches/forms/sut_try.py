"""The form that asks one system about one picture; the comparison asks the same of several."""

from typing import Any

from django import forms

from searches.services.picture_questions import question_groups
from searches.services.trying import MOST_PROMPT_CHARACTERS, MOST_TARGET_CHARACTERS

MOST_UPLOAD_BYTES = 20_000_000


class QuestionForm(forms.Form):
    """One picture and one question."""

    picture = forms.FileField(
        required=False,
        help_text="PNG, JPEG or WebP, up to 20 MB and 16 million pixels.",
        widget=forms.ClearableFileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
    )
    same = forms.RegexField(r"\A[0-9a-f]{64}\Z", required=False, widget=forms.HiddenInput)
    scene = forms.ChoiceField(required=False, label="Or a scene you have drawn")
    mode = forms.ChoiceField(
        label="Question",
        choices=[("choice", "The question of a domain"), ("boxes", "Find things"), ("text", "My own words")],
        widget=forms.RadioSelect,
        initial="choice",
    )
    question = forms.ChoiceField(
        label="Question for a picture",
        required=False,
        help_text="Used only with “The question of a domain” and for a picture of your own. A scene that you "
        "have drawn brings its own question.",
    )
    targets = forms.CharField(
        label="Things to find",
        required=False,
        max_length=MOST_TARGET_CHARACTERS,
        help_text="Used only with “Find things”, such as: the red car. The system is asked for their boxes.",
    )
    prompt = forms.CharField(
        label="My own words",
        required=False,
        max_length=MOST_PROMPT_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Used only with “My own words”. The whole text goes to the system as it stands.",
    )

    def __init__(self, *args: Any, scenes: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scene = self.fields["scene"]
        assert isinstance(scene, forms.ChoiceField)
        scene.choices = [("", "No scene"), *scenes]
        question = self.fields["question"]
        assert isinstance(question, forms.ChoiceField)
        question.choices = [
            (title, [(one.id, one.words) for one in questions]) for title, questions in question_groups()
        ]
        if not scenes:
            scene.help_text = "You have drawn none yet; a domain's page composes one."

    def clean(self) -> dict[str, Any]:
        """Ask for exactly one picture, and for words where they are needed.

        An upload or a scene takes the place of the picture that was asked about before.
        """
        cleaned = super().clean() or {}
        upload, scene = cleaned.get("picture"), cleaned.get("scene")
        if "picture" not in self.errors and "scene" not in self.errors:
            if not upload and not scene and not cleaned.get("same"):
                self.add_error("picture", "Choose a picture, or a scene you have drawn.")
            elif upload and scene:
                self.add_error("scene", "Choose a picture or a scene, not both.")
        if upload and upload.size > MOST_UPLOAD_BYTES:
            self.add_error("picture", "The file is larger than 20 MB. Make it smaller and try again.")
        mode = cleaned.get("mode")
        if mode == "text" and "prompt" not in self.errors and not cleaned.get("prompt", "").strip():
            self.add_error("prompt", "Write what the system shall be asked.")
        if mode == "boxes" and "targets" not in self.errors and not cleaned.get("targets", "").strip():
            self.add_error("targets", "Write what to find, such as: the red car.")
        return cleaned


class TrySutForm(QuestionForm):
    """One picture and one question for one system."""
