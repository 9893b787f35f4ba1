"""Text of a domain file: what is read, and that hostile text is refused without being executed or grown."""

import json

import pytest

from vlmlab.core.scenes.domain_problems import DomainFileError
from vlmlab.core.scenes.domain_text import MAX_BYTES, read_text

LAUGHS = "a: &a [x, x]\n" + "\n".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


def refusal(source) -> str:
    with pytest.raises(DomainFileError) as caught:
        read_text(source)
    return str(caught.value.problems[0])


def test_yaml_and_json_say_the_same():
    content = {"slug": "a", "max_size": 3, "share": 0.5, "on": True, "none": None, "rows": [{"id": "x"}, "y"]}
    text = 'slug: a\nmax_size: 3\nshare: 0.5\n"on": true\nnone: ~\nrows:\n- {id: x}\n- y\n'

    assert read_text(text).content == content
    assert read_text(json.dumps(content)).content == content


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("yes", "yes"), ("on", "on"), ("12:30:00", "12:30:00"), ("2026-01-02", "2026-01-02"),
        ("0o17", "0o17"), ("010", 10), ("-4", -4), ("1e3", 1000.0), (".5", 0.5), ("1_000", "1_000"),
        ("NULL", None), ("'7'", "7"), ('"true"', "true"), ("|-\n  a\n  b", "a\nb"), ("!!str 7", "7"),
        ("<<", "<<"),
        ("0x1F", "0x1F"),
    ],
)  # fmt: skip
def test_plain_words_stay_words_and_only_decimal_numbers_are_numbers(text, value):
    read = read_text(f"key: {text}\n").content["key"]

    assert (read, type(read)) == (value, type(value))


def test_lines_lead_to_each_value():
    text = read_text("slug: a\nrules:\n- id: one\n  when:\n    has: [x]\n- id: two\n")

    assert text.line_of(("rules", 1, "id")) == 6
    assert text.line_of(("rules", 0, "when", "has", 0)) == 5
    assert text.line_of(("rules", 1, "action")) == 6
    assert text.line_of(("concepts",)) is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", "The file is empty. Start from"),
        ("  \n# only a comment\n", "The file is empty."),
        ("- a\n- b\n", "The file has no keys at its top level."),
        ("just words", "The file has no keys at its top level."),
        ("a: 1\nb: 2\na: 3\n", "line 3: The key “a” stands twice in one place, first in line 1. Keep one"),
        ('{"a": 1, "a": 2}', "The key “a” stands twice in one place."),
        (
            "{" + ", ".join(f'"{number}": 1' for number in range(80_000)) + ', "last": 1, "last": 2}',
            "The key “last” stands twice in one place.",
        ),
        (LAUGHS, "line 1: Anchors (&) and aliases (*) are not read."),
        ("a: 1\nb: *a\n", "line 2: Anchors (&) and aliases (*) are not read."),
        ("a: " + "[" * 500, "line 1: The values lie more than 10 levels deep."),
        ("a: " + "[" * 50_000, "line 1: "),
        ("a:\n" + "".join(f"{' ' * n}- \n" for n in range(40)), "line 11: The values lie more than"),
        ('{"a": ' + "[" * 200_000, "The values lie more than 10 levels deep."),
        ('{"a": ' + "[" * 30 + "]" * 30 + "}", "The values lie more than 10 levels deep."),
        ("a: [" + "1, " * 50_000 + "]", "The file has more than 40,000 values."),
        ("a: " + "9" * 40, "line 1: The number “999"),
        ('{"a": ' + "9" * 5_000 + "}", "The number “999"),
        ("a: 1e999", "line 1: The number “1e999” is too large."),
        ("a: .nan", "line 1: .nan is not a number that a domain can use."),
        ("a: -.INF", "line 1: -.INF is not a number"),
        ('{"a": NaN}', "NaN is not a number that a domain can use."),
        ('{"a": Infinity}', "Infinity is not a number"),
        ("a: !!python/object/apply:os.system ['x']", "line 1: The tag “tag:yaml.org,2002:python/"),
        ("a: !!binary aGk=", "line 1: The tag “tag:yaml.org,2002:binary” is not read."),
        ("a: !custom {x: 1}", "line 1: The tag “!custom” is not read."),
        ("? [a, b]\n: 1\n", "line 1: A key must be a plain word."),
        ("a: 1\n---\nb: 2\n", "line 2: The file holds more than one document."),
        ("a:\n\t- b\n", "line 2: The line is indented with a tab. Indent with spaces only."),
        ("a: b: c\n", "line 1: This is not YAML: mapping values are not allowed"),
        ('{"a": 1,\n "b" 2}', "line 2: This is not JSON: expecting ':' delimiter."),
        ("a: 'x\x07y'\n", "line 1: There is a control character (U+0007)."),
        ("ok: 1\na: x\u202ey\n", "line 2: There is a control character (U+202E)."),
        ('a: "x\\u0000y"\n', "line 1: A text holds a control character (U+0000)."),
        ('{"a": "\\u0000"}', "A text holds a control character (U+0000)."),
        ('{"\\u0000": 1}', "A text holds a control character (U+0000)."),
        ('a: 1\n"b\\u0000": 2\n', "line 2: A text holds a control character (U+0000)."),
        ('{"a": "\\ud800"}', "A text holds a control character (U+D800)."),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "This is not a text file."),
        (b"a: 1\nb: \xff\n", "line 2: The file is not UTF-8 text. Save it as UTF-8."),
        ("a: 1".encode("utf-16"), "The file is UTF-16 text. Save it as UTF-8."),
        (b"a" * (MAX_BYTES + 1), "The file has 1,000,001 bytes; a domain file may have 1,000,000."),
    ],
)  # fmt: skip
def test_what_is_refused_and_in_which_words(source, message):
    assert refusal(source).startswith(message)


def test_a_byte_order_mark_and_windows_line_ends_are_read():
    assert read_text("slug: ä\r\ntitle: b\r\n".encode("utf-8-sig")).content == {"slug": "ä", "title": "b"}


def test_a_tag_that_would_run_a_command_runs_nothing(tmp_path):
    target = tmp_path / "touched"

    refusal(f"a: !!python/object/apply:os.system ['touch {target}']")
    refusal(f"!!python/object/new:os.system ['touch {target}']")

    assert list(tmp_path.iterdir()) == []
