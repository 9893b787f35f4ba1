"""Texts of the example domain, as the editor sends them."""

from vlmlab.core.scenes.domain_files import check_domain_file, example_text, write_domain_file


def fields(text, **more):
    """Return what the editor sends."""
    return {"text": text, "base": "", "section": "text", "open": "", "note": "", "do": "apply"} | more


def changed(**values) -> str:
    return write_domain_file(check_domain_file(example_text()).content | values)
