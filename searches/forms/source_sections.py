"""Which setting stands in which part of the form of a picture source; what no part names is folded away."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SourcePart:
    """One part of the form; settings that a kind lacks are left out."""

    title: str
    help: str
    names: tuple[str, ...]
    is_folded: bool = False


PARTS: tuple[SourcePart, ...] = (
    SourcePart("Pictures", "What it draws from, and how a picture is chosen.", ("dataset", "match", "fit")),
    SourcePart(
        "Where it runs",
        "Which model, or which server.",
        ("provider", "model", "base_url", "region", "host", "port", "version", "map"),
    ),
    SourcePart("Key", "Stored keys are sealed; each is for one server only.", ("api_key",)),
    SourcePart(
        "Check of the pictures",
        "A second system looks at every picture and says whether the concepts can be seen.",
        ("presence_sut", "presence_threshold", "max_attempts"),
    ),
    SourcePart(
        "Money",
        "As the provider lists them. A run with a spending limit needs the price of a picture.",
        ("price_usd_per_picture", "input_price_usd", "output_price_usd"),
    ),
)
REST = SourcePart("Advanced", "The defaults suit most sources.", (), is_folded=True)
