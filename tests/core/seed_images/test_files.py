"""Sources: folders with links, pipes and hostile names; what is refused is told, and the rest is read."""

import os

import pytest

from tests.core.seed_images.sources import photograph, told
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.seed_images.files import FolderSource, ReadFiles, fault_of_name, read_bounded
from vlmlab.core.seed_images.importing import import_pictures
from vlmlab.core.seed_images.report import ImportReport
from vlmlab.core.seed_images.settings import ImportSettings

TABLE = b"file,label,x_min,y_min,x_max,y_max\na.png,dog,1,1,30,30\n"


def taken(source):
    report = ImportReport()
    return list(import_pictures(source, report=report)), report


def test_a_folder_is_read_with_the_folders_below_it_and_hidden_files_are_not(tmp_path):
    for name, content in {
        "x/a.png": photograph(),
        "boxes.csv": TABLE,
        ".git/b.png": b"",
        "x/.c.png": b"",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)

    source = FolderSource(tmp_path)
    pictures, report = taken(source)

    assert source.names == ("boxes.csv", "x/a.png")
    assert ([one.file for one in pictures], told(report)) == (["x/a.png"], [])


def test_links_and_pipes_are_told_and_never_opened(tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.png").write_bytes(photograph())
    folder = tmp_path / "upload"
    folder.mkdir()
    (folder / "a.png").write_bytes(photograph())
    (folder / "boxes.csv").write_bytes(TABLE)
    (folder / "link.png").symlink_to(secret / "key.png")
    (folder / "linked").symlink_to(secret)
    os.mkfifo(folder / "pipe.png")

    source = FolderSource(folder)
    pictures, report = taken(source)

    assert source.names == ("a.png", "boxes.csv")
    assert len(pictures) == 1
    assert sorted(told(report)) == [
        ("file", "name", "link.png", ""),
        ("file", "name", "linked", ""),
        ("file", "name", "pipe.png", ""),
    ]


@pytest.mark.parametrize("swap", ["link", "pipe"])
def test_a_file_that_became_a_link_or_a_pipe_meanwhile_is_refused(tmp_path, swap):
    (tmp_path / "a.png").write_bytes(photograph())
    source = FolderSource(tmp_path)
    (tmp_path / "a.png").unlink()
    if swap == "link":
        (tmp_path / "a.png").symlink_to("/etc/passwd")
    else:
        os.mkfifo(tmp_path / "a.png")

    with pytest.raises(FaultError, match=r"cannot be read|no plain file"):
        read_bounded(source, "a.png", max_bytes=100)


def test_a_folder_that_is_not_there_or_too_full_is_said(tmp_path):
    with pytest.raises(SeedImportError, match="There is no folder"):
        FolderSource(tmp_path / "gone")
    for number in range(4):
        (tmp_path / f"{number}.png").write_bytes(b"")
    with pytest.raises(SeedImportError, match="more than 3 files"):
        FolderSource(tmp_path, max_files=3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../a.png", "lead outside"),
        ("x/../../a.png", "lead outside"),
        ("x//a.png", "lead outside"),
        ("./a.png", "lead outside"),
        ("/etc/a.png", "absolute path"),
        ("C:/a.png", "absolute path"),
        ("x\\a.png", "backslash"),
        ("a\n.png", "control character"),
        ("a\0.png", "cannot be stored"),
        ("\udcff.png", "cannot be stored"),
        ("", "cannot be stored"),
        ("x" * 600, "more than 500 characters"),
        ("дом/картинка 1.png", ""),
        ("a..b/..c.png", ""),
    ],
)
def test_a_name_that_could_lead_outside_or_cannot_be_written_is_refused(name, words):
    assert words in fault_of_name(name)
    assert bool(words) == bool(fault_of_name(name))


def test_names_that_are_refused_are_told_and_the_rest_is_read():
    files = {"a.png": photograph(), "../evil.png": photograph(), "x\ny.csv": b"", "boxes.csv": TABLE}

    pictures, report = taken(ReadFiles(tuple(files), files.__getitem__))

    assert len(pictures) == 1
    assert sorted(told(report)) == [("file", "name", "../evil.png", ""), ("file", "name", "x?y.csv", "")]


def test_what_a_source_says_against_a_file_is_the_reason_of_its_refusal():
    def read(name: str) -> bytes:
        if name == "a.png":
            raise VlmLabError("It is damaged in the archive.", hint="Pack it again.")
        return TABLE

    _, report = taken(ReadFiles(("a.png", "boxes.csv"), read))

    assert (report.refusals[0].reason, report.refusals[0].hint) == (
        "cannot be read: It is damaged in the archive",
        "Pack it again.",
    )


@pytest.mark.parametrize("name", ["notes.json", "boxes.csv", "a.xml", "a.txt", "classes.txt", "strata.csv"])
@pytest.mark.parametrize("error", [VlmLabError("It is torn."), OSError(5, "Input/output error")])
def test_no_description_that_cannot_be_read_breaks_an_import(name, error):
    def read(wanted: str) -> bytes:
        if wanted == name:
            raise error
        return {"a.png": photograph(), "boxes.csv": TABLE}.get(wanted, b"dog")

    for format_name in ("coco", "voc", "yolo", "ilsvrc", "udacity", "table"):
        report = ImportReport()
        source = ReadFiles(
            ("a.png", "a.txt", "a.xml", "boxes.csv", "classes.txt", "notes.json", "strata.csv"), read
        )
        list(import_pictures(source, ImportSettings(format=format_name), report=report))

        assert all(refusal.hint for refusal in report.refusals)


def test_a_source_can_end_the_whole_import():
    def read(name: str) -> bytes:
        if name == "a.png":
            raise SeedImportError("All files together are too large.")
        return TABLE

    with pytest.raises(SeedImportError, match="too large"):
        taken(ReadFiles(("a.png", "boxes.csv"), read))
