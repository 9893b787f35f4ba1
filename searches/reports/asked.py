"""What every report says first and last: what was asked, by which versions, how to repeat it."""

import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from django.db import connection
from django.utils import timezone

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD, MODALITY_METHOD
from searches.models import Campaign, SearchRun
from searches.reports.document import Block, Facts, Section, Table, Text
from searches.services.domain_store import find_domain
from searches.services.live import config_of
from searches.services.modality_plans import shell_command as modality_command
from searches.services.modality_results import most_config
from searches.services.search_plans import shell_command as concept_command
from searches.services.seed_plans import SeedPlan
from vlmlab import __version__
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.web.numbers import write_count, write_duration, write_money, write_stored

PACKAGES = ("Django", "numpy", "scipy", "scikit-learn", "Pillow", "torch", "transformers", "plotly", "pymoo")
METHOD_WORDS: Mapping[str, str] = {
    "revelio": "search over concept sets",
    MODALITY_METHOD: "search over perturbations of pictures and prompts",
    FOLLOW_UP_METHOD: "follow-up of concept sets",
    CASE_METHOD: "follow-up of test cases",
}
RUNS_SHOWN = 12


def asked_section(campaign: Campaign, runs: Sequence[SearchRun]) -> Section:
    """Return what was asked of whom, when, with which settings and seeds, and what it cost."""
    return Section("asked", "What was asked", [_about(campaign), _runs(runs), _systems(runs)])


def versions_section(campaign: Campaign, runs: Sequence[SearchRun]) -> Section:
    """Return versions of everything that counts, and the commands that repeat the campaign."""
    rows = [("VLM Lab", __version__), ("Python", platform.python_version()), *package_versions()]
    rows += [("Readers of replies", READER_VERSION), ("Database", connection.vendor)]
    blocks: list[Block] = [
        Text(
            "These are the versions of the lab that wrote this report. The fingerprint of a system and the "
            "maker of the pictures, above, are those that answered and drew."
        ),
        Facts(rows),
        _settings(campaign),
    ]
    commands = repeat_commands(campaign, runs)
    if commands:
        blocks.append(Text("To repeat it in a shell of the lab:"))
        blocks += [Text(command, is_code=True) for command in commands]
    return Section("versions", "Versions, and how to repeat this", blocks)


def repeat_commands(campaign: Campaign, runs: Sequence[SearchRun]) -> list[str]:
    """Return the commands that start the same runs with the same seeds; none where they cannot be told."""
    try:
        if campaign.method == MODALITY_METHOD and campaign.dataset is not None:
            plan = checked_settings(SeedPlan, campaign.plan)
            config = most_config(campaign)
            slugs = dict.fromkeys(run.sut.slug for run in runs)
            return [modality_command(config, plan, sut_slug=one, dataset=campaign.dataset) for one in slugs]
        if campaign.method == "revelio":
            return [
                concept_command(
                    config_of(run), run.sut.slug, domain_slug=campaign.domain_ref, run_seed=run.run_seed
                )
                for run in runs
            ]
    except VlmLabError:
        return []
    if campaign.follows_id and campaign.method == FOLLOW_UP_METHOD:
        return [
            f"python manage.py follow_up {campaign.kind} --campaign {campaign.follows_id} --wait\n"
            "# asks other fresh scenes: the seed of a follow-up is drawn when it is stored"
        ]
    return []


@lru_cache(maxsize=1)
def package_versions() -> tuple[tuple[str, str], ...]:
    """Return the packages behind the numbers that are installed, with their versions."""
    found = []
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def _about(campaign: Campaign) -> Facts:
    rows = [
        ("Campaign", f"{campaign.pk}, {campaign.name}"),
        ("Method", METHOD_WORDS.get(campaign.method, campaign.method)),
        ("Started", _when(campaign.created_at)),
        ("Report written", _when(timezone.now())),
    ]
    if campaign.domain:
        domain = find_domain(campaign.domain_ref)
        rows += [("Domain", domain.title), ("Version of the domain", campaign.domain_ref)]
    if campaign.dataset is not None:
        rows.append(("Seed images", f"{campaign.dataset.title} ({campaign.dataset.slug})"))
    if campaign.follows is not None:
        rows.append(("Follows", f"{campaign.follows_id}, {campaign.follows.name}"))
    return Facts(rows)


def _runs(runs: Sequence[SearchRun]) -> Table:
    rows = [
        (
            run.pk, run.sut.name, run.get_state_display(), run.run_seed, run.n_observations, run.n_failed,
            run.n_invalid, run.n_call_errors, run.n_generation_errors, cost_words(run),
            write_duration(run.active_seconds), _when(run.started_at), _when(run.finished_at),
        )
        for run in runs
    ]  # fmt: skip
    return Table(
        "runs",
        "Runs",
        ("Run", "System", "State", "Run seed", "Answers", "Wrong", "Invalid", "Call errors",
         "Without a picture", "Cost", "Work", "Started", "Ended"),
        rows[:RUNS_SHOWN],
        frozenset({0, 3, 4, 5, 6, 7, 8, 9}),
        note="an invalid answer names no single option and counts as wrong; call errors and sets without a "
        "picture are outside every rate",
        all_rows=rows,
    )  # fmt: skip


def _systems(runs: Sequence[SearchRun]) -> Table:
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for run in runs:
        fingerprint = str(run.checkpoint.get("fingerprint") or run.sut.fingerprint)
        pictures = str(run.checkpoint.get("pictures", ""))
        found[run.sut.slug, fingerprint, pictures] = (
            run.sut.name, run.sut.slug, run.sut.kind, fingerprint or "–", pictures or "–",
        )  # fmt: skip
    return Table(
        "systems",
        "Systems, and what drew the pictures",
        ("System", "Short name", "Kind", "Fingerprint", "Pictures"),
        list(found.values()),
        note="a fingerprint changes with everything that can change an answer to a given prompt",
    )


def _settings(campaign: Campaign) -> Table:
    rows = [(name, write_stored(value)) for name, value in {**campaign.config, **campaign.plan}.items()]
    return Table("settings", "Settings", ("Setting", "Value"), rows)


def cost_words(run: SearchRun) -> str:
    """Return what a run cost; "unknown" where nobody entered a price of a remote system."""
    return "unknown" if run.sut.is_price_unknown else write_money(run.spend_usd)


def totals(runs: Sequence[SearchRun]) -> list[tuple[str, str]]:
    """Return what some runs took together."""
    unknown = any(run.sut.is_price_unknown for run in runs)
    return [
        ("Answers", write_count(sum(run.n_observations for run in runs))),
        ("Invalid among them", write_count(sum(run.n_invalid for run in runs))),
        ("Call errors", write_count(sum(run.n_call_errors for run in runs))),
        ("Cost", "unknown" if unknown else write_money(sum(run.spend_usd for run in runs))),
    ]


def _when(moment: datetime | None) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M %Z}" if moment else "–"
