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
    most_discordance_for_margin,
    paired_difference,
    pass_power,
)
from vlmlab.core.stats.evalues import (
    e_bh,
    e_lond,
    fails_to_cross,
    log_bar,
    log_e_above,
    log_e_below,
    passes_to_cross,
    place_share,
    shared_e_bh,
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
from vlmlab.core.stats.ratios import RatioInterval, ratio_of_means
from vlmlab.core.stats.sequences import confidence_sequence, selected_level
from vlmlab.core.stats.sign_flips import sign_flip_p_value

__all__ = [
    "Bounds",
    "DifferenceInterval",
    "Interval",
    "PairedCounts",
    "RatioInterval",
    "SignedRank",
    "benjamini_hochberg",
    "bootstrap_interval",
    "clopper_pearson",
    "confidence_sequence",
    "count_pairs",
    "difference_below",
    "e_bh",
    "e_lond",
    "fails_to_cross",
    "fleiss_kappa",
    "holm",
    "krippendorff_alpha",
    "log_bar",
    "log_e_above",
    "log_e_below",
    "lower_bound",
    "mcnemar_exact",
    "mcnemar_power",
    "mean_interval",
    "most_discordance_for_margin",
    "normal_quantile",
    "observed_agreement",
    "paired_difference",
    "pass_power",
    "passes_to_cross",
    "place_share",
    "randolph_kappa",
    "ratio_of_means",
    "score_interval_of_mean",
    "selected_level",
    "shared_e_bh",
    "sign_flip_p_value",
    "upper_bound",
    "wilcoxon_signed_rank",
    "wilson",
    "wilson_interval",
]
