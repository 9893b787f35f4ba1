"""Files that commands write: what is found out before the work, and what is said where writing fails."""

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from searches.management.result_files import USAGE_ERROR, check_option, writing
from vlmlab.core.errors import VlmLabError


@pytest.mark.parametrize("target", [None, "-"])
def test_check_option_has_nothing_to_check_without_a_file(target):
    check_option(target)


def test_check_option_takes_a_file_in_a_folder_that_exists(tmp_path):
    check_option(str(tmp_path / "result.json"))


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "{path} is a folder."), ("gone/result.json", "The folder of {path} does not exist.")],
)
def test_check_option_refuses_what_cannot_be_written(name, message, tmp_path):
    path = tmp_path / name

    with pytest.raises(VlmLabError) as refused:
        check_option(str(path))

    assert refused.value.message == message.format(path=path)


def test_writing_says_what_cannot_be_written_where(tmp_path):
    with pytest.raises(CommandError) as refused, writing("The report", tmp_path):
        Path(tmp_path).write_text("")

    assert str(refused.value) == f"The report cannot be written to {tmp_path}: Is a directory."
    assert refused.value.returncode == USAGE_ERROR
