"""Uploaded archives: what is refused before a byte of it is used, and that bytes are really counted."""

import io
import stat
import struct
import zipfile

import pytest

from searches.services.archives import Archive, ArchiveError, ArchiveLimits

MB = 1_000_000


def packed(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content, compress_type=method)
    return out


def refusal(file: io.BytesIO, **limits: int) -> str:
    with pytest.raises(ArchiveError) as raised:
        Archive(file, ArchiveLimits(**limits))
    return raised.value.message


def renamed(old: str, new: str) -> io.BytesIO:
    """Return an archive whose member has a name that no packing program writes."""
    assert len(old) == len(new)
    return io.BytesIO(packed((old, b"x")).getvalue().replace(old.encode(), new.encode()))


def test_the_files_of_an_archive_are_read_by_their_paths():
    archive = Archive(packed(("a/", b""), ("a/one.txt", b"1"), ("two.txt", b"22")))

    assert archive.names == ("a/one.txt", "two.txt")
    assert archive.read("a/one.txt", max_bytes=10) == b"1"
    assert archive.read("two.txt", max_bytes=2) == b"22"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../evil.png", "is a path that could lead outside"),
        ("a/../../evil.png", "is a path that could lead outside"),
        ("a/./b.png", "is a path that could lead outside"),
        ("a//b.png", "is a path that could lead outside"),
        ("/etc/passwd", "is an absolute path"),
        ("C:evil.png", "names a drive"),
        ("c:/evil.png", "names a drive"),
    ],
)
def test_a_path_that_could_reach_outside_is_refused(name, fault):
    assert refusal(packed((name, b"x"))) == f"The archive is refused: “{name}” {fault}."


def test_a_backslash_and_a_nul_in_a_name_are_refused():
    assert "has a backslash" in refusal(renamed("a_evil.png", "a\\evil.png"))
    assert "has a NUL" in refusal(renamed("a.png_.exe", "a.png\0.exe"))


def test_links_and_devices_are_refused():
    for kind in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO):
        member = zipfile.ZipInfo("link.png")
        member.external_attr = (kind | 0o777) << 16

        assert "is a link or a device" in refusal(packed((member, b"/etc/passwd")))


def test_names_that_are_one_file_on_many_systems_are_refused():
    assert "are one file on many systems" in refusal(packed(("Cone.png", b"1"), ("cone.PNG", b"2")))
    assert "are one file" in refusal(packed(("caf\u00e9.png", b"1"), ("cafe\u0301.png", b"2")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused():
    assert "are one file on many systems" in refusal(packed(("cone.png", b"1"), ("cone.png", b"2")))


def test_encrypted_files_are_refused():
    content = bytearray(packed(("cone.png", b"x")).getvalue())
    content[6] |= 1  # flags in the file's own header
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1  # and in the table of contents

    assert "is encrypted" in refusal(io.BytesIO(bytes(content)))


def test_rare_packing_methods_are_refused():
    assert "method that is rarely used" in refusal(packed(("a.png", b"x"), method=zipfile.ZIP_LZMA))


def test_300_mb_of_zeros_are_read_no_further_than_allowed(tmp_path):
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("zeros.png", "w") as file,
    ):
        for _ in range(300):
            file.write(bytes(MB))
    assert len(bomb.getvalue()) < 2 * MB
    archive = Archive(bomb)

    with pytest.raises(ArchiveError) as raised:
        archive.read("zeros.png", max_bytes=20 * MB)

    assert raised.value.message == "“zeros.png” holds more than 20 MB."
    assert list(tmp_path.iterdir()) == []


def test_real_bytes_are_counted_whatever_the_archive_says_and_over_all_files():
    archive = Archive(packed(*[(f"{i}.png", bytes(400)) for i in range(3)]), ArchiveLimits(max_bytes=1_000))
    archive.read("0.png", max_bytes=500)
    archive.read("1.png", max_bytes=500)

    with pytest.raises(ArchiveError, match="The files of the archive hold more than"):
        archive.read("2.png", max_bytes=500)


def test_a_size_that_is_a_lie_is_found_out():
    content = bytearray(packed(("a.png", bytes(5_000))).getvalue())
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<L", 10)

    with pytest.raises(ArchiveError, match="is damaged in the archive"):
        Archive(io.BytesIO(bytes(content))).read("a.png", max_bytes=MB)


def test_too_many_files_are_refused_before_their_names_are_read():
    file = packed(*[(f"{i:0200}.png", b"") for i in range(40)])

    assert refusal(file, max_members=5) == "The archive has more than 5 files."
    assert refusal(file, max_members=39) == "The archive has more than 39 files."
    assert len(Archive(file, ArchiveLimits(max_members=40)).names) == 40


def test_a_second_table_of_contents_in_the_64_bit_format_is_refused():
    content = packed(("a.png", b"x")).getvalue()
    end = content.rindex(b"PK\x05\x06")

    assert "ZIP64" in refusal(io.BytesIO(content[:end] + b"PK\x06\x07" + bytes(16) + content[end:]))


@pytest.mark.parametrize("content", [b"", b"PK", b"not an archive" * 10])
def test_what_is_no_archive_is_refused(content):
    assert refusal(io.BytesIO(content)) == "This is not a ZIP archive, or it is damaged."


def test_an_empty_archive_has_no_files():
    assert Archive(packed()).names == ()


def test_a_cut_archive_and_a_damaged_file_are_refused():
    whole = packed(("a.png", bytes(range(256)) * 20), method=zipfile.ZIP_STORED).getvalue()
    broken = bytearray(whole)
    broken[600] ^= 255

    assert "damaged" in refusal(io.BytesIO(whole[:-30]))
    with pytest.raises(ArchiveError, match="is damaged in the archive"):
        Archive(io.BytesIO(bytes(broken))).read("a.png", max_bytes=MB)


def test_litter_of_systems_is_left_out_and_archives_inside_stay_closed():
    archive = Archive(
        packed(
            ("__MACOSX/a/._x.png", b""),
            ("a/.DS_Store", b""),
            ("a/._y", b""),
            ("in.zip", b"PK"),
            ("x.png", b"1"),
        )
    )

    assert archive.names == ("in.zip", "x.png")
