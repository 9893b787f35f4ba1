"""The manual on the site: pages, links and contents from the files in docs."""

from vlmlab.web.manual import manual_contents, manual_page

TEXT = """# The title

See [the index](index.md#words) and [a site](https://example.org).

| a | b |
|--:|---|
| 1 | 2 |

<script>alert(1)</script>
"""


def test_a_page_has_its_title_apart_and_no_inline_style_or_markup(tmp_path):
    (tmp_path / "guide.md").write_text(TEXT)

    page = manual_page(tmp_path, "guide")

    assert (page.name, page.title) == ("guide", "The title")
    assert ("<h1" in page.html, "style=" in page.html, "<script" in page.html) == (False, False, False)
    assert "<td>1</td>" in page.html


def test_links_between_files_lead_to_pages_and_others_stay(tmp_path):
    (tmp_path / "guide.md").write_text(TEXT)

    html = manual_page(tmp_path, "guide").html

    assert 'href="../index/#words"' in html
    assert 'href="https://example.org"' in html


def test_a_link_to_a_heading_leads_there(tmp_path):
    (tmp_path / "guide.md").write_text("# Guide\n\n## What is refused, and why\n\nText.\n")

    assert '<h2 id="what-is-refused-and-why">' in manual_page(tmp_path, "guide").html


def test_a_picture_of_the_manual_stands_in_its_page_and_no_other_file_does(tmp_path):
    (tmp_path / "img").mkdir()
    (tmp_path / "img/boxes.png").write_bytes(b"a picture")
    (tmp_path / "secret.png").write_bytes(b"a secret")
    (tmp_path / "guide.md").write_text("# Guide\n\n![Boxes](img/boxes.png) ![No](img/../secret.png)\n")

    html = manual_page(tmp_path, "guide").html

    assert 'src="data:image/png;base64,YSBwaWN0dXJl" alt="Boxes"' in html
    assert html.count("data:") == 1


def test_a_page_outside_the_folder_is_no_page(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "secret.md").write_text("# Secret")

    assert manual_page(tmp_path / "docs", "../secret") is None


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "guide.md"
    path.write_text("# One")
    first = manual_page(tmp_path, "guide").title
    path.write_text("# Another")

    assert (first, manual_page(tmp_path, "guide").title) == ("One", "Another")


def test_the_contents_follow_the_order_in_which_the_introduction_names_the_pages(tmp_path):
    (tmp_path / "index.md").write_text("# Index\nFirst [zebra](zebra.md#stripes), then [mule](mule.md).")
    for name in ("alpha", "mule", "zebra"):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}")

    assert [entry.name for entry in manual_contents(tmp_path)] == ["index", "zebra", "mule", "alpha"]


def test_the_contents_begin_with_the_introduction(tmp_path):
    for name in ("zebra", "index", "alpha"):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}")

    assert [entry.title for entry in manual_contents(tmp_path)] == ["Index", "Alpha", "Zebra"]
