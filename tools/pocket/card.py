"""Writes a model card from a measured evaluation, the degradation curves and the training log."""

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from safetensors import safe_open

from tools.pocket.curves import curves_svg
from tools.pocket.render import ROOT_SEED
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain

ABOUT = {
    "pocket": "the model that a new installation starts with",
    "pocket-m": "the larger sister of `pocket`: a finer picture and a wider decoder",
    "pocket-early": "an earlier state of the training of `pocket`, kept to compare with and to transfer to",
}
HEADER = """---
license: apache-2.0
library_name: transformers
pipeline_tag: image-text-to-text
tags: [synthetic, driving, kitchen, test-model]
---

# VLM Lab {name}

A very small vision-language model (LeViT tower, GPT-2 decoder, `LlavaForConditionalGeneration`,
{parameters:,} parameters): {about}. It answers VLM Lab's driving question and the questions about kitchens
with a letter, judges statements (T or F), and finds the things of both domains (boxes as JSON, 0 to 1000,
x before y). It exists so that a failure search can be tried on a real model without a download. Its
weaknesses are learned; no answer is scripted.

**Synthetic scenes only, not a benchmark, not for driving, not for anybody's safety.** It was trained on
VLM Lab's own ray-traced pictures and knows nothing of photographs.
"""


def share_text(share: Mapping[str, Any]) -> str:
    """Return right / asked, per cent and interval of one stored share."""
    percent = 100 * share["right"] / max(1, share["asked"])
    low, high = 100 * share["low"], 100 * share["high"]
    return f"{share['right']}/{share['asked']} = {percent:.1f} % [{low:.1f}, {high:.1f}]"


def accuracy_table(summary: Mapping[str, Any]) -> str:
    """Return the table of right answers: one row for each task and group."""
    lines = ["| task | right |", "|---|---|"]
    lines += [f"| {name.replace('_', ' ')} | {share_text(share)} |" for name, share in summary.items()]
    return "\n".join(lines)


def confusion_table(confusion: Mapping[str, Mapping[str, int]]) -> str:
    """Return the table expected against answered."""
    answers = list(dict.fromkeys([*confusion, *(name for row in confusion.values() for name in row)]))
    lines = ["| expected \\ answered | " + " | ".join(answers) + " |", "|---" * (len(answers) + 1) + "|"]
    for expected, row in confusion.items():
        lines.append(f"| {expected} | " + " | ".join(str(row.get(name, 0)) for name in answers) + " |")
    return "\n".join(line.replace("_", " ") for line in lines)


def degradation_table(report: Mapping[str, Any]) -> str:
    """Return the table of all curves: one row for each change and task, one column for each level."""
    lines = ["| change | task | clean | 1 | 2 | 3 | 4 | 5 |", "|---" * 8 + "|"]
    for name, curve in report["curves"].items():
        levels = ", ".join(f"{point['level']:g}" for point in curve["points"])
        for task, clean in report["clean"].items():
            cells = [f"{100 * p[task]['right'] / max(1, p[task]['asked']):.0f} %" for p in curve["points"]]
            first = f"{100 * clean['right'] / max(1, clean['asked']):.0f} %"
            lines.append(f"| {name} ({curve['unit']}: {levels}) | {task} | {first} | {' | '.join(cells)} |")
    return "\n".join(lines)


def training_table(log: Path) -> str:
    """Return the best validation reading of each phase: the state that went on."""
    best: dict[str, dict[str, Any]] = {}
    for line in log.read_text().splitlines():
        row = json.loads(line)
        phase = row["phase"]
        if row["kind"] == "check" and (phase not in best or row["score"] > best[phase]["score"]):
            best[phase] = row
    lines = [
        "| phase | step of the kept state | minutes until then | validation score |",
        "|---|---|---|---|",
    ]
    for phase, row in best.items():
        lines.append(f"| {phase} | {row['step']} | {row['seconds'] / 60:.0f} | {row['score']:.3f} |")
    return "\n".join(lines)


def attribution() -> str:
    """Return the works that the pictures show: title, author, source and licence, one a line."""
    path = resources.files("vlmlab.core.scenes.render") / "assets" / "ATTRIBUTION.tsv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    lines = [
        f"- {row['title']}, {row['author']}; [{row['source']}]({row['source_address']}); "
        f"[{row['licence']}]({row['licence_address']})"
        for row in rows
    ]
    return "\n".join(dict.fromkeys(lines))


def parameters_of(folder: Path) -> int:
    """Return how many numbers the weights hold."""
    with safe_open(folder / "model.safetensors", framework="numpy") as weights:
        shapes = [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118 - no mapping
    total = 0
    for shape in shapes:
        count = 1
        for side in shape:
            count *= side
        total += count
    return total


def card_text(
    report: Mapping[str, Any],
    degradation: Mapping[str, Any] | None,
    *,
    name: str,
    parameters: int,
    notes: Sequence[str],
    log: Path,
) -> str:
    """Return the whole card."""
    parts = [
        HEADER.format(name=name, about=ABOUT[name], parameters=parameters),
        *_measured(report),
        *_by_domain(report),
        *(_degraded(degradation) if degradation is not None else []),
        *_training(notes, log),
        *_use(name),
    ]
    return "\n".join(parts)


def _measured(report: Mapping[str, Any]) -> list[str]:
    return [
        "## Measured",
        "Through the project's ordinary path (load, prompt, greedy answer, readers of letters and boxes),",
        "pictures of 320 x 240 in standard quality, scene seeds never used in training or to choose the",
        "checkpoint (`evaluation-small`: sets of one or two concepts, each expected answer in turn;",
        "`evaluation-random`: random sets of size 1 to 4). Intervals are exact (Clopper-Pearson, 95 %).",
        "Boxes are right when the set IoU is at least 0.5; objects are of at least 16 px at the model's",
        "input (square root of the area), smaller ones apart.",
        "",
        accuracy_table(report["summary"]),
        "",
        f"Mean IoU of the boxes: {report['mean_iou']:.2f}. "
        f"Malformed replies: {share_text(report['malformed'])}.",
        "",
    ]


def _by_domain(report: Mapping[str, Any]) -> list[str]:
    parts: list[str] = []
    for slug, table in report["confusion"].items():
        weak = ", ".join(
            f"`{one}` {share['right']}/{share['asked']}" for one, share in report["weakest"][slug][:8]
        )
        parts += [
            f"### {load_domain(slug).title}",
            "",
            confusion_table(table),
            "",
            f"Weakest concepts: {weak}.",
            "",
        ]
    return parts


def _degraded(degradation: Mapping[str, Any]) -> list[str]:
    asked = ", ".join(f"{task}: {share['asked']}" for task, share in degradation["clean"].items())
    return [
        "## Worse pictures, worse prompts",
        "",
        "![Share of right replies as pictures and prompts get worse](degradation.svg)",
        "",
        f"The same prompts at five levels of each change ({asked}).",
        "",
        degradation_table(degradation),
        "",
    ]


def _training(notes: Sequence[str], log: Path) -> list[str]:
    versions = ", ".join(f"`{load_domain(slug).ref}`" for slug in DOMAIN_SLUGS)
    return [
        "## Training",
        "",
        *notes,
        f"Domain versions {versions}, root seed {ROOT_SEED}.",
        "",
        training_table(log),
        "",
        "The log of all readings is `training_log.jsonl`; the recipe is in `docs/pocket.md`; `make pocket`",
        "trains again.",
        "",
    ]


def _use(name: str) -> list[str]:
    return [
        "## Use",
        "",
        "`AutoProcessor.from_pretrained(folder)` and",
        "`AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)`; no torchvision, no",
        "remote code.",
        f"In VLM Lab: `shipped:{name}`.",
        "",
        "## Licence and attribution",
        "",
        "Weights: Apache-2.0. The training pictures show these works, each decimated and repacked:",
        "",
        attribution(),
        "",
    ]


def main() -> None:
    """Read the command line and write README.md, the curves and the log into the checkpoint's folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", choices=ABOUT, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="the checkpoint's folder")
    parser.add_argument("--evaluation", type=Path, default=Path("var/pocket/evaluation.json"))
    parser.add_argument("--degradation", type=Path, help="curves, if they were measured")
    parser.add_argument("--run", type=Path, default=Path("var/pocket/run"), help="folder of the training")
    parser.add_argument("--note", nargs="*", default=[], help="sentences on this training")
    options = parser.parse_args()
    logs = [options.run / phase / "log.jsonl" for phase in ("language", "vision", "bridge", "joint")]
    log = options.folder / "training_log.jsonl"
    log.write_text("".join(path.read_text() for path in logs if path.exists()))
    degradation = json.loads(options.degradation.read_text()) if options.degradation else None
    if degradation is not None:
        (options.folder / "degradation.svg").write_text(curves_svg(degradation))
    text = card_text(
        json.loads(options.evaluation.read_text()),
        degradation,
        name=options.name,
        parameters=parameters_of(options.folder),
        notes=options.note,
        log=log,
    )
    (options.folder / "README.md").write_text(text)


if __name__ == "__main__":
    main()
