"""Writes the pocket VLM's model card from a measured evaluation and the training log."""

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from tools.pocket.render import ROOT_SEED
from tools.pocket.truth import ACTIONS
from vlmlab.core.scenes.catalogue import load_domain

PARTS = {
    "single": "single concepts",
    "balanced": "sets of 1 or 2 concepts, balanced by expected answer",
    "random": "random sets of 1 to 4 concepts",
}
HEADER = """---
license: apache-2.0
library_name: transformers
pipeline_tag: image-text-to-text
tags: [synthetic, driving, test-model]
---

# VLM Lab pocket VLM

A very small vision-language model (LeViT tower, GPT-2 decoder, `LlavaForConditionalGeneration`,
{parameters:,} parameters) that answers VLM Lab's driving question with a letter. It exists so that a failure
search can be tried on a real model without a download. Its weaknesses are learned; no answer is scripted.

**Not a benchmark, not for driving.** It was trained on synthetic, ray-traced scenes only and knows nothing of
real photographs. It answers the driving question (and one sentence of reason when asked); boxes, other
questions and other domains are outside what it learned.

## Measured

Through the project's ordinary path (load, prompt, greedy answer, reader of choices), pictures of 448 x 336 in
standard quality, scene seeds never used in training or to choose the checkpoint (`pocket-evaluation`).
Intervals are exact (Clopper-Pearson, 95 %).
"""


def share_text(share: Mapping[str, Any]) -> str:
    """Return right / asked, per cent and interval of one stored share."""
    percent = 100 * share["right"] / max(1, share["asked"])
    low, high = 100 * share["low"], 100 * share["high"]
    return f"{share['right']}/{share['asked']} = {percent:.0f} % [{low:.0f}, {high:.0f}]"


def accuracy_table(summary: Mapping[str, Any]) -> str:
    """Return the table of accuracies: one row for each part and expected answer."""
    lines = ["| scenes | expected answer | right |", "|---|---|---|"]
    for part, title in PARTS.items():
        for name in ("all", *ACTIONS):
            if name in summary.get(part, {}):
                lines.append(f"| {title} | {name.replace('_', ' ')} | {share_text(summary[part][name])} |")
    return "\n".join(lines)


def confusion_table(confusion: Mapping[str, Mapping[str, int]]) -> str:
    """Return the table expected against answered over all parts."""
    answers = [*ACTIONS, "invalid"]
    lines = ["| expected | " + " | ".join(answers) + " |", "|---" * 5 + "|"]
    lines += [f"| {e} | " + " | ".join(str(confusion[e][a]) for a in answers) + " |" for e in ACTIONS]
    return "\n".join(lines)


def weak_concepts(rows: Sequence[Mapping[str, Any]], *, at_least: int = 12, shown: int = 8) -> str:
    """Return the concepts whose scenes were answered worst, with counts."""
    counts: dict[str, list[bool]] = {}
    for row in rows:
        for name in row["key"]:
            counts.setdefault(name, []).append(row["answered"] == row["expected"])
    often = [
        (sum(right) / len(right), name, right) for name, right in counts.items() if len(right) >= at_least
    ]
    return ", ".join(f"`{name}` {sum(right)}/{len(right)}" for _, name, right in sorted(often)[:shown])


def training_table(logs: Sequence[Path]) -> str:
    """Return the best validation reading of each phase: the state that went on."""
    lines = ["| phase | steps | minutes | validation score |", "|---|---|---|---|"]
    best: dict[str, dict[str, Any]] = {}
    for line in (line for log in logs for line in log.read_text().splitlines()):
        row = json.loads(line)
        phase = row["phase"]
        if row["kind"] == "check" and (phase not in best or row["score"] > best[phase]["score"]):
            best[phase] = row
    for phase, row in best.items():
        lines.append(f"| {phase} | {row['step']} | {row['seconds'] / 60:.0f} | {row['score']:.3f} |")
    return "\n".join(lines)


# The shipped checkpoint learned from pictures of version 1 of the embedded renderer; its meshes were others.
ADDED_SINCE = ("h_child_reachup",)
DROPPED_SINCE = ("Boy", "Girl")  # of Reallusion


def attribution() -> str:
    """Return the works that the pictures show: title, author, source and licence, one a line."""
    path = resources.files("vlmlab.core.scenes.render") / "assets" / "ATTRIBUTION.tsv"
    shipped = csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    rows = [row for row in shipped if row["asset"] not in ADDED_SINCE]
    other = next(row for row in rows if row["author"] == "Reallusion")
    rows += [{**other, "title": title} for title in DROPPED_SINCE]
    return "\n".join(
        f"- {row['title']}, {row['author']}; [{row['source']}]({row['source_address']}); "
        f"[{row['licence']}]({row['licence_address']})"
        for row in rows
    )


def card_text(report: Mapping[str, Any], *, parameters: int, pictures: str, logs: Sequence[Path]) -> str:
    """Return the whole card."""
    summary = report["summary"]
    invalid = [summary[part]["invalid"] for part in PARTS if part in summary]
    asked, wrong = sum(s["asked"] for s in invalid), sum(s["right"] for s in invalid)
    domain = load_domain("driving")
    return "\n".join(
        [
            HEADER.format(parameters=parameters),
            accuracy_table(summary),
            "",
            f"Malformed or invalid answers: {wrong} of {asked}. Chance is 33 %.",
            "",
            confusion_table(report["confusion"]),
            "",
            f"Weakest concepts over all these scenes (right/asked): {weak_concepts(report['rows'])}.",
            "",
            "## Training",
            "",
            f"{pictures} Domain version `{domain.version}`, root seed {ROOT_SEED}.",
            "",
            training_table(logs),
            "",
            "The recipe is in `docs/pocket.md`, the commands to train it again in `tools/pocket/README.md`",
            "(`python -m tools.pocket.train --resume`).",
            "",
            "## Use",
            "",
            "`AutoProcessor.from_pretrained(folder)` and",
            "`AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)`; no torchvision, no",
            "remote code. In VLM Lab: `shipped:pocket`.",
            "",
            "## Licence and attribution",
            "",
            "Weights: Apache-2.0. The training pictures show these works, each decimated and repacked:",
            "",
            attribution(),
            "",
        ]
    )


def main() -> None:
    """Read the command line and write README.md into the checkpoint's folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluation", type=Path, default=Path("var/pocket/evaluation.json"))
    parser.add_argument("--folder", type=Path, required=True, help="the checkpoint's folder")
    parser.add_argument("--log", type=Path, nargs="+", required=True, help="log.jsonl of each phase")
    parser.add_argument("--parameters", type=int, required=True)
    parser.add_argument("--pictures", default="", help="a sentence on the training pictures")
    options = parser.parse_args()
    report = json.loads(options.evaluation.read_text())
    text = card_text(report, parameters=options.parameters, pictures=options.pictures, logs=options.log)
    (options.folder / "README.md").write_text(text)


if __name__ == "__main__":
    main()
