"""What a reply that should hold boxes is before any box is looked for: its text, or a word for "none"."""

import re
import unicodedata

from vlmlab.core.replies.plain import NAMED_TOKENS

_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060"
_SPECIAL = re.compile(rf"<\|[^|<>\n]{{1,40}}\|>|<｜[^｜<>\n]{{1,40}}｜>|{NAMED_TOKENS}")
_BOX_NAME = re.compile(r"/?\s*(?:\w*_)?(?:box|bbox|ref|det|quad|point)\w*\s*|/?\s*object_(?:ref|def)\w*\s*")

_WRAPPING = re.compile(r"<\|(?:begin|end)_of_box\|>|```[A-Za-z0-9]*|[`*_\"'“”‘’]")
_SENTINELS = frozenset(
    """
    none|null|nil|n/a|na|not applicable|empty|nothing|nothing found|nothing detected
    no object|no objects|no object found|no objects found|no object detected|no objects detected
    no object was found|no objects were found|no object was detected|no objects were detected
    no object present|no objects present|no object visible|no objects visible|no such object|no such objects
    no object in the image|no objects in the image|no objects found in the image|no detection|no detections
    no box|no boxes|no bounding box|no bounding boxes|no match|no matches|no match found|no matches found
    no target|no targets|no target found|no targets found|no instance|no instances|no instances found
    no result|no results|no results found|not found|not present|not visible|not detected|none found
    none detected|none present|none visible|object not found|objects not found|target not found|absent
    there is none|there are none|there are no objects|there is no object|there is no such object|0 objects
    无|无目标|无物体|没有|没有目标|没有物体|没有找到|没有检测到|未找到|未检测到|未检测到目标|未发现|未发现目标|不存在|空
    なし|該当なし|없음
    """.replace("\n", "|")
    .replace("    ", "")
    .split("|")
) - {""}
_LONGEST_SENTINEL = 60


def without_special_tokens(raw: str) -> str:
    """Return a reply without tokens that only begin, end or pad it; tokens around boxes stay."""

    def kept(match: re.Match[str]) -> str:
        token = match.group()
        if token.startswith("<|") and _BOX_NAME.fullmatch(token[2:-2].strip()):
            return token
        return ""

    return _SPECIAL.sub(kept, raw).replace("\0", "").strip().strip(_INVISIBLE).strip()


def is_sentinel(text: str) -> bool:
    """Whether the whole text is one of the closed list of words for "there is none"."""
    if len(text) > 4 * _LONGEST_SENTINEL:
        return False
    bare = _WRAPPING.sub("", unicodedata.normalize("NFKC", text)).strip().strip(_INVISIBLE)
    bare = " ".join(bare.strip(" \t\n.。!！;；,()").casefold().split())
    return bare in _SENTINELS
