"""The items of a follow-up as CSV and JSON, row by row."""

import json
from collections.abc import Callable, Iterator

from searches.models import Campaign, FollowUpItem
from searches.services.exports import CHUNK, csv_lines

COLUMNS = (
    "order", "run", "sut", "key", "expected_action", "finding", "case", "state", "reason", "fails", "n",
    "invalid", "low", "high", "level", "log_e", "block",
)  # fmt: skip


def items_csv(campaign: Campaign) -> Iterator[str]:
    """Return the items as CSV lines; what only one kind has stands in the JSON file."""
    return csv_lines(COLUMNS, ([_values(item)[name] for name in COLUMNS] for item in _items(campaign)))


def items_json(campaign: Campaign) -> Iterator[str]:
    """Return the follow-up with its settings and everything that is known of its items, piece by piece."""
    head = {
        "follow_up": campaign.pk,
        "name": campaign.name,
        "kind": campaign.kind,
        "follows": campaign.follows_id,
        "domain": campaign.domain,
        "domain_version": campaign.domain_version,
        "config": campaign.config,
        "run_seeds": dict(campaign.runs.order_by("pk").values_list("pk", "run_seed")),
    }
    yield json.dumps(head, ensure_ascii=False)[:-1]
    yield ', "items": ['
    for number, item in enumerate(_items(campaign)):
        extra = {"concepts": item.concepts, "spec": item.spec, "numbers": item.numbers}
        text = json.dumps(_values(item) | extra, ensure_ascii=False)
        yield text if number == 0 else f",\n{text}"
    yield "]}\n"


WRITERS: dict[str, Callable[[Campaign], Iterator[str]]] = {"csv": items_csv, "json": items_json}


def _items(campaign: Campaign) -> Iterator[FollowUpItem]:
    rows = FollowUpItem.objects.filter(campaign=campaign).select_related("run__sut")
    return rows.order_by("run_id", "order").iterator(chunk_size=CHUNK)


def _values(item: FollowUpItem) -> dict[str, object]:
    numbers = {name: item.numbers.get(name) for name in ("invalid", "low", "high", "level", "log_e")}
    return {
        "order": item.order,
        "run": item.run_id,
        "sut": item.run.sut.slug,
        "key": item.key,
        "expected_action": item.expected_action,
        "finding": item.finding_id,
        "case": item.case_id,
        "state": item.state,
        "reason": item.reason,
        "fails": item.fails,
        "n": item.n,
        "block": item.block,
        **numbers,
    }
