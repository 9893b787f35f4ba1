"""Which model families the installed transformers loads, found without importing it."""

import ast
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from vlmlab.core.errors import SutError
from vlmlab.core.suts.checkpoint import CheckpointReport

_TABLE = "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES"
_TABLE_FILE = "models/auto/modeling_auto.py"


def check_can_be_asked(report: CheckpointReport) -> None:
    """Refuse a checkpoint that would be refused when a worker loads it: its family, its chat template.

    Raises:
        SutError: transformers does not know the family, or there is no chat template.
    """
    families = known_families()
    if families and report.model_type not in families:
        raise SutError(
            "The installed transformers knows no picture-and-text model of the family "
            f"“{report.model_type}”.",
            hint="Choose a checkpoint that takes pictures and text, or update transformers.",
            field="checkpoint",
        )
    if not report.has_chat_template:
        raise SutError(
            f"The checkpoint '{report.folder.name}' has no chat template.",
            hint="Choose the instruction-tuned version of the model.",
            field="checkpoint",
        )


@lru_cache(maxsize=1)
def known_families() -> frozenset[str]:
    """Return the model types of transformers' table of picture-and-text models; empty when it has none.

    The table is read as text: importing transformers takes seconds and hundreds of megabytes.
    """
    spec = find_spec("transformers")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        return frozenset()
    try:
        tree = ast.parse((Path(folders[0]) / _TABLE_FILE).read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return frozenset()
    for node in tree.body:
        names = [one.id for one in getattr(node, "targets", ()) if isinstance(one, ast.Name)]
        if _TABLE in names and isinstance(node, ast.Assign):
            pairs = [one for one in ast.walk(node.value) if isinstance(one, ast.Tuple) and one.elts]
            keys = [one.elts[0] for one in pairs]
            return frozenset(
                key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
            )
    return frozenset()
