"""What a worker could not load is refused before it is registered, without loading any library."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from vlmlab.core.errors import SutError
from vlmlab.core.suts import families
from vlmlab.core.suts.checkpoint import CheckpointReport
from vlmlab.core.suts.families import check_can_be_asked, known_families

GOOD = CheckpointReport(
    folder=Path("org/name"), model_type="llava", architectures=(), weight_files=(), weight_bytes=0,
    parameters=0, stored_dtypes=(), has_chat_template=True,
)  # fmt: skip


def test_families_are_those_of_the_installed_library():
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as TABLE

    assert known_families() == set(TABLE)


def test_reading_the_families_imports_no_big_library():
    code = (
        "import sys; from vlmlab.core.suts.families import known_families; assert known_families();"
        "print('transformers' in sys.modules, 'torch' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False"]


def test_a_checkpoint_of_a_known_family_with_a_chat_template_may_be_asked():
    check_can_be_asked(GOOD)


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (replace(GOOD, model_type="lava_lamp"),
         "The installed transformers knows no picture-and-text model of the family “lava_lamp”."),
        (replace(GOOD, model_type="bert"),
         "The installed transformers knows no picture-and-text model of the family “bert”."),
        (replace(GOOD, has_chat_template=False), "The checkpoint 'name' has no chat template."),
    ],
)  # fmt: skip
def test_what_no_worker_could_load_is_refused_at_its_field(report, message):
    with pytest.raises(SutError) as caught:
        check_can_be_asked(report)

    assert (caught.value.message, caught.value.field) == (message, "checkpoint")


def test_without_a_readable_table_no_family_is_refused(monkeypatch):
    monkeypatch.setattr(families, "known_families", frozenset)

    check_can_be_asked(replace(GOOD, model_type="lava_lamp"))
