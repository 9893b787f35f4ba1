"""Statistics of the lab: intervals, paired tests, multiplicity and agreement, each with its source."""

from vlmlab.core.stats.agreement import (
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
    randolph_kappa,
)
from vlmlab.core.stats.differences import (
    DifferenceInterval,
    PairedCounts,
    count_pairs,
    difference_below,
    mcnemar_power,
    paired_difference,
)
from vlmlab.core.stats.intervals import (
    Bounds,
    Interval,
    bootstrap_interval,
    clopper_pearson,
    lower_bound,
    mean_interval,
    normal_quantile,
    score_interval_of_mean,
    upper_bound,
    wilson,
    wilson_interval,
)
from vlmlab.core.stats.multiplicity import benjamini_hochberg, holm
from vlmlab.core.stats.paired import SignedRank, mcnemar_exact, wilcoxon_signed_rank

__all__ = [
    "Bounds",
    "DifferenceInterval",
    "Interval",
    "PairedCounts",
    "SignedRank",
    "benjamini_hochberg",
    "bootstrap_interval",
    "clopper_pearson",
    "count_pairs",
    "difference_below",
    "fleiss_kappa",
    "holm",
    "krippendorff_alpha",
    "lower_bound",
    "mcnemar_exact",
    "mcnemar_power",
    "mean_interval",
    "normal_quantile",
    "observed_agreement",
    "paired_difference",
    "randolph_kappa",
    "score_interval_of_mean",
    "upper_bound",
    "wilcoxon_signed_rank",
    "wilson",
    "wilson_interval",
]
