"""Which setting stands in which part of the form of a picture source; what no part names is folded away."""

from searches.forms.settings_form import SectionPlan

SECTIONS: tuple[SectionPlan, ...] = (
    SectionPlan(
        "pictures",
        "Pictures",
        "What it draws from, and how a picture is chosen.",
        ("dataset", "match", "fit"),
    ),
    SectionPlan(
        "where",
        "Where it runs",
        "Which model, or which server.",
        ("provider", "model", "base_url", "region", "host", "port", "version", "map"),
    ),
    SectionPlan("key", "Key", "Stored keys are sealed; each is for one server only.", ("api_key",)),
    SectionPlan(
        "check",
        "Check of the pictures",
        "A second system looks at every picture and says whether the concepts can be seen.",
        ("presence_sut", "presence_threshold", "max_attempts"),
    ),
    SectionPlan(
        "money",
        "Money",
        "As the provider lists them. A run with a spending limit needs the price of a picture.",
        ("price_usd_per_picture", "input_price_usd", "output_price_usd"),
    ),
)
ADVANCED = SectionPlan("advanced", "Advanced", "The defaults suit most sources.", (), is_folded=True)
