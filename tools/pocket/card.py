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
from tools.pocket.evaluate import opened
from tools.pocket.render import ROOT_SEED
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain

ABOUT = {
    "pocket": "the model that a new installation starts with",
    "pocket-early": "an earlier state of the training of `pocket`, kept to compare with and to transfer to",
}
PHASES = ("language", "vision", "bridge", "joint")
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


def kept_log(run: Path, *, last_step: int | None) -> str:
    """Return the readings of all phases, those of the last one up to the step of the shipped state."""
    kept = []
    for phase in PHASES:
        path = run / phase / "log.jsonl"
        for line in path.read_text().splitlines():
            if phase != PHASES[-1] or last_step is None or json.loads(line)["step"] <= last_step:
                kept.append(line + "\n")
    return "".join(kept)


def training_table(log: Path, *, last_step: int | None = None) -> str:
    """Return the best validation reading of each phase: the state that went on.

    Args:
        log: the readings, one JSON object a line.
        last_step: of the last phase, where not its best state is meant but the one of this step.
    """
    best: dict[str, dict[str, Any]] = {}
    for line in log.read_text().splitlines():
        row = json.loads(line)
        if row["phase"] == PHASES[-1] and last_step is not None and row["step"] != last_step:
            continue
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
    modes: Sequence[Mapping[str, Any]] = (),
    last_step: int | None = None,
) -> str:
    """Return the whole card.

    Args:
        report: what ``tools.pocket.evaluate`` wrote.
        degradation: what ``tools.pocket.degrade`` wrote, if it was measured.
        name: the checkpoint's name.
        parameters: numbers in its weights.
        notes: sentences on this training.
        log: its readings.
        modes: what ``tools.pocket.modes`` wrote, one of each domain.
        last_step: of the last phase, where not its best state is shipped.
    """
    parts = [
        HEADER.format(name=name, about=ABOUT[name], parameters=parameters),
        *_measured(report),
        *_by_domain(report),
        *(_failure_modes(modes) if modes else []),
        *(_degraded(degradation) if degradation is not None else []),
        *_training(notes, training_table(log, last_step=last_step)),
        *_use(name),
    ]
    return "\n".join(parts)


def _measured(report: Mapping[str, Any]) -> list[str]:
    return [
        "## Measured",
        "",
        "Through the project's ordinary path (load, prompt, greedy answer, readers of letters and boxes),",
        "pictures of 320 x 240 in standard quality, scene seeds never used in training or to choose the",
        "checkpoint (`evaluation-small`: sets of one or two concepts, each expected answer in turn;",
        "`evaluation-random`: random sets of size 1 to 4; `evaluation-several`: sets with several things,",
        "for more prompts about two or three). Intervals are exact (Clopper-Pearson, 95 %).",
        "Boxes are right when the set IoU is at least 0.5; objects are of at least 16 px at the model's",
        "input (square root of the area), smaller ones apart. The names in a reply do not matter there; “by",
        "name” counts, of the asked objects, those that have a box with their very name. Statements of one",
        "reply depend on each other, so their intervals are somewhat narrow.",
        "",
        accuracy_table(report["summary"]),
        "",
        f"Mean IoU of the boxes: {report['mean_iou']:.2f}. "
        f"Malformed replies: {share_text(report['malformed'][''])}; most in one task: {_worst(report)}.",
        "",
    ]


def _worst(report: Mapping[str, Any]) -> str:
    tasks = {name: share for name, share in report["malformed"].items() if name}
    name = max(tasks, key=lambda task: tasks[task]["right"] / max(1, tasks[task]["asked"]))
    return f"{name}, {share_text(tasks[name])}"


def _failure_modes(modes: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "### Failure modes",
        "",
        "What searches of the lab found first (sits, minimal sets, threshold 0.6), asked again on fresh",
        "scenes:",
        "",
        "| domain | concepts | wrong answers |",
        "|---|---|---|",
    ]
    for found in modes:
        for row in found["modes"]:
            names = " + ".join(f"`{one}`" for one in row["concepts"])
            lines.append(f"| {found['domain']} | {names} | {share_text(row['fresh'])} |")
    return [*lines, ""]


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


def _training(notes: Sequence[str], table: str) -> list[str]:
    versions = ", ".join(f"`{load_domain(slug).ref}`" for slug in DOMAIN_SLUGS)
    return [
        "## Training",
        "",
        *notes,
        f"Domain versions {versions}, root seed {ROOT_SEED}.",
        "",
        table,
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
    parser.add_argument("--modes", type=Path, nargs="*", default=[], help="failure modes, one file a domain")
    parser.add_argument("--last-step", type=int, help="of the last phase, if not its best state is shipped")
    options = parser.parse_args()
    report = json.loads(options.evaluation.read_text())
    fingerprint = opened(str(options.folder)).info.fingerprint
    if report["checkpoint"] != fingerprint:
        parser.error(
            f"{options.evaluation} is about another checkpoint than {options.folder}: measure it again"
        )
    log = options.folder / "training_log.jsonl"
    log.write_text(kept_log(options.run, last_step=options.last_step))
    degradation = json.loads(options.degradation.read_text()) if options.degradation else None
    if degradation is not None:
        (options.folder / "degradation.svg").write_text(curves_svg(degradation))
    text = card_text(
        report,
        degradation,
        name=options.name,
        parameters=parameters_of(options.folder),
        notes=options.note,
        log=log,
        modes=[json.loads(path.read_text()) for path in options.modes],
        last_step=options.last_step,
    )
    (options.folder / "README.md").write_text(text)


if __name__ == "__main__":
    main()
