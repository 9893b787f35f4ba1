"""What an ablation decides: which concepts of findings their failures need, and which smaller sets fail."""

from searches.models import Campaign


def settle_ablation(campaign: Campaign) -> None:
    """Write what an ablation has found into its findings.

    Call it inside the transaction that ends a run; doing it again changes nothing.
    """
