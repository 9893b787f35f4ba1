"""Statistics of the lab: intervals, paired tests, multiplicity and agreement, each with its source."""

from vlmlab.core.stats.agreement import (
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
    randolph_kappa,
)
from vlmlab.core.stats.intervals import (
    Bounds,
    Interval,
    bootstrap_interval,
    clopper_pearson,
    lower_bound,
    mean_interval,
    normal_quantile,
    wilson,
    wilson_interval,
)
from vlmlab.core.stats.multiplicity import benjamini_hochberg, holm
from vlmlab.core.stats.paired import SignedRank, mcnemar_exact, wilcoxon_signed_rank

__all__ = [
    "Bounds",
    "Interval",
    "SignedRank",
    "benjamini_hochberg",
    "bootstrap_interval",
    "clopper_pearson",
    "fleiss_kappa",
    "holm",
    "krippendorff_alpha",
    "lower_bound",
    "mcnemar_exact",
    "mean_interval",
    "normal_quantile",
    "observed_agreement",
    "randolph_kappa",
    "wilcoxon_signed_rank",
    "wilson",
    "wilson_interval",
]
