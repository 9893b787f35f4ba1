"""What of the papers can be done again in this lab: what it shows, with what, and what had to be guessed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vlmlab.core.revelio.published import PaperDomain

Way = Literal["experiment", "retest", "transfer", "explain", "findings", "modality", "unknown"]
WAYS: dict[Way, str] = {
    "experiment": "An experiment: campaigns over algorithms, settings and run seeds",
    "retest": "An experiment, then the published re-test of the top sets of each run",
    "transfer": "A transfer: top sets of one system asked of others on the same scenes",
    "explain": "No new run: concepts and pairs of runs that exist",
    "findings": "No new run: the failure modes of an experiment's runs",
    "modality": "A modality search over seed images, regimes and operators",
    "unknown": "Cannot be done again: what it shows is not known here",
}
Paper = Literal["Revelio", "MoST"]

SYSTEMS = (
    "The systems: the published models are not in this lab. Any system that is registered stands in their "
    "place, so the numbers are not of the same thing."
)
SCENES = (
    "The scenes: drawn by this lab's renderer from its own layouts, 448 × 336 pixels, each sample another."
)
PROMPT = "The question, its options and their order: in words of this lab, options shuffled a sample."
SEEDS = "Run seeds: one number a cell is published, taken for one run; here every arm has several seeds."
TIES = "Ties: sets with the same failure rate are ordered at random, by the run seed."
QUOTA = (
    "The beam: each level gets an equal share of what is left of the budget, because as printed it seldom "
    "gets past three concepts, yet sets of five are listed. “beam-literal” is the search as printed."
)
POOL = "The candidates of gpts: 1,000 random sets of up to four concepts a step."
NOISE = (
    "The draw of gpts: of the latent failure rate, without noise; its noise is fitted by marginal likelihood."
)
AT_LEAST = (
    "A failure mode: at least ⌈m τ⌉ wrong answers, not more than m τ; an invalid answer is a wrong one."
)
SEARCH = (SYSTEMS, SCENES, PROMPT, SEEDS, TIES, AT_LEAST)
BEAM = (*SEARCH, QUOTA)
GPTS = (*BEAM, POOL, NOISE)
MODEL = "Which model the table is of: Gemini 3 Flash (medium), by the cells it shares with Table 2."
MOST_SYSTEMS = "The systems: four published checkpoints; any system that answers with boxes stands in."
MOST_SEEDS = "The seed images: of this lab's own scenes or uploaded ones, not the published ones."
MOST_FORMULAS = (
    "Formulas that the summary of the paper does not give: SWTD and what the returned case is are ours, see "
    "the manual on how modality sensitivity is measured."
)
MOST = (MOST_SYSTEMS, MOST_SEEDS, MOST_FORMULAS)


@dataclass(frozen=True)
class Reproduction:
    """One table or figure.

    Attributes:
        number: of the table in its paper, 0 for a figure or a group.
        label: ``Table 2``, ``Fig. 6``.
        shows: what it shows, as far as that is known here.
        domains: where there are published numbers.
        algorithms, axis, values: arms of the experiment.
        settings: what differs from the published defaults.
        guesses: every parameter that had to be guessed.
        builds_on: another one whose runs it needs.
        page: name of the address that shows it, for those without a run of their own.
    """

    slug: str
    paper: Paper
    label: str
    title: str
    way: Way
    shows: str
    number: int = 0
    domains: tuple[PaperDomain, ...] = ("driving", "indoor")
    algorithms: tuple[str, ...] = ()
    axis: str = ""
    values: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    guesses: tuple[str, ...] = ()
    builds_on: str = ""
    page: str = ""

    @property
    def starts_experiment(self) -> bool:
        """Whether it begins with an experiment of its own."""
        return bool(self.algorithms)


_PAPER_ALGORITHMS = ("random", "beam", "gpts")
_REVELIO = (
    Reproduction(
        "revelio-table-1", "Revelio", "Table 1", "Top sets on fresh scenes", "retest",
        "Mean and standard deviation of the failure rate of the top ten sets of each search on 20 fresh "
        "scenes each, and how many of the ten reach 80 %.",
        number=1, algorithms=_PAPER_ALGORITHMS,
        guesses=(
            *GPTS,
            "The top ten: by the failure rate of the search, ties at random.",
            "The spread: the standard deviation over the ten sets, divided by n, which fits most rows.",
            "Fresh: other layouts and other options; never another answer to the same picture.",
        ),
    ),
    Reproduction(
        "revelio-table-2", "Revelio", "Table 2", "PFM, MFR and Div of three searches", "experiment",
        "Random, beam and Thompson sampling on eight systems: share of failure modes (PFM), mean failure "
        "rate (MFR) and diversity (Div) for 1,000 inferences, five scenes a set.",
        number=2, algorithms=_PAPER_ALGORITHMS, guesses=GPTS,
    ),
    Reproduction(
        "revelio-table-3", "Revelio", "Table 3", "Top sets of one system on others", "transfer",
        "Failure rates of Gemini (medium)'s top sets on five systems, beside what each fails at random.",
        number=3, builds_on="revelio-table-2",
        guesses=(
            SYSTEMS, SCENES, PROMPT,
            "How many top sets and scenes: ten sets, 20 scenes each.",
            "The random rate: measured on random valid sets of one to four concepts, on the same number of "
            "scenes; the published column looks like the MFR of the random search.",
            "The diagonal: measured again on the same scenes, never taken from the search.",
        ),
    ),
    Reproduction(
        "revelio-table-4", "Revelio", "Table 4", "Not known here", "unknown",
        "Its content is not among the published numbers that come with this lab.", number=4,
    ),
    Reproduction(
        "revelio-table-5", "Revelio", "Table 5", "Not known here", "unknown",
        "Its content is not among the published numbers that come with this lab.", number=5,
    ),
    Reproduction(
        "revelio-table-6", "Revelio", "Table 6", "Beam width, kitchen", "experiment",
        "PFM and MFR of the beam for k = 1, 5 and 10 in the kitchen.",
        number=6, domains=("indoor",), algorithms=("beam",), axis="beam_width", values=("1", "5", "10"),
        guesses=(*BEAM, MODEL),
    ),
    Reproduction(
        "revelio-table-7", "Revelio", "Table 7", "Beam width, driving", "experiment",
        "PFM and MFR of the beam for k = 1, 5 and 10 on the street.",
        number=7, domains=("driving",), algorithms=("beam",), axis="beam_width", values=("1", "5", "10"),
        guesses=(*BEAM, MODEL),
    ),
    Reproduction(
        "revelio-table-8", "Revelio", "Table 8", "Samples per set, kitchen", "experiment",
        "PFM and MFR of beam and gpts with m = 5 and m = 10 in the kitchen.",
        number=8, domains=("indoor",), algorithms=("beam", "gpts"), axis="samples", values=("5", "10"),
        guesses=(*GPTS, MODEL, "The budget: the same for both, so m = 10 tries half the sets."),
    ),
    Reproduction(
        "revelio-table-9", "Revelio", "Table 9", "Samples per set, driving", "experiment",
        "PFM and MFR of beam and gpts with m = 5 and m = 10 on the street.",
        number=9, domains=("driving",), algorithms=("beam", "gpts"), axis="samples", values=("5", "10"),
        guesses=(*GPTS, MODEL, "The budget: the same for both, so m = 10 tries half the sets."),
    ),
    Reproduction(
        "revelio-table-10", "Revelio", "Table 10", "Kernel of the surrogate", "experiment",
        "PFM, MFR and Div of gpts with a dot product and with an RBF kernel, both with white noise.",
        number=10, algorithms=("gpts",), axis="kernel", values=("linear", "rbf"),
        guesses=(*GPTS, MODEL, "Length scale and noise of the RBF kernel: fitted by marginal likelihood."),
    ),
    Reproduction(
        "revelio-table-11", "Revelio", "Table 11", "Top sets, driving", "findings",
        "Five sets of each search on each of eight systems, on the street.",
        number=11, domains=("driving",), builds_on="revelio-table-2", page="finding_list",
        guesses=(SYSTEMS, SCENES, "Which five: the ones with the most wrong answers, ties at random."),
    ),
    Reproduction(
        "revelio-table-12", "Revelio", "Table 12", "Top sets, kitchen", "findings",
        "Five sets of each search on each of eight systems, in the kitchen.",
        number=12, domains=("indoor",), builds_on="revelio-table-2", page="finding_list",
        guesses=(SYSTEMS, SCENES, "Which five: the ones with the most wrong answers, ties at random."),
    ),
    Reproduction(
        "revelio-table-13", "Revelio", "Table 13", "Concepts: recognition and failure, driving", "explain",
        "Recognition R, failure rate F and regime of ten concepts on the street.",
        number=13, domains=("driving",), page="explain_systems",
        guesses=(
            SYSTEMS, SCENES, "Which runs: all of one system that have full sets; the table does not say.",
            "R: a true and a false statement a concept, asked with the question in one reply.",
            "The rule of the regimes: F below 20 % is Low-F, then R of at least 70 % reasoning, at most 30 % "
            "recognition, else mixed.",
        ),
    ),
    Reproduction(
        "revelio-table-14", "Revelio", "Table 14", "Concepts: recognition and failure, kitchen", "explain",
        "Recognition R, failure rate F and regime of ten concepts in the kitchen.",
        number=14, domains=("indoor",), page="explain_systems",
        guesses=(
            SYSTEMS, SCENES, "Which runs: all of one system that have full sets; the table does not say.",
            "R: a true and a false statement a concept, asked with the question in one reply.",
            "The rule of the regimes: F below 20 % is Low-F, then R of at least 70 % reasoning, at most 30 % "
            "recognition, else mixed.",
        ),
    ),
    Reproduction(
        "revelio-table-15", "Revelio", "Table 15", "Pairs of concepts, driving", "explain",
        "Pairs whose sets fail more or less than the failure rates of both concepts suggest, on the street.",
        number=15, domains=("driving",), page="explain_systems",
        guesses=(SYSTEMS, SCENES, "What a pair is held against: 1 - (1 - F of one)(1 - F of the other)."),
    ),
    Reproduction(
        "revelio-table-16", "Revelio", "Table 16", "Pairs of concepts, kitchen", "explain",
        "Pairs whose sets fail more or less than the failure rates of both concepts suggest, in the kitchen.",
        number=16, domains=("indoor",), page="explain_systems",
        guesses=(SYSTEMS, SCENES, "What a pair is held against: 1 - (1 - F of one)(1 - F of the other)."),
    ),
    Reproduction(
        "revelio-warm-start", "Revelio", "Ablation", "Warm start B_BS", "experiment",
        "gpts with 0, 250, 500, 750 and 1,000 of 1,000 inferences spent by the beam first. No published "
        "numbers come with this lab.",
        algorithms=("gpts",), axis="warm_start", values=("0", "0.25", "0.5", "0.75", "1"), guesses=GPTS,
    ),
    Reproduction(
        "revelio-diversity", "Revelio", "Ablation", "Diversity weight λ", "experiment",
        "The beam with different weights of the overlap in its frontier. No published numbers come with this "
        "lab.",
        algorithms=("beam",), axis="diversity_weight", values=("0", "0.25", "0.5", "1"),
        guesses=(*BEAM, "The values beside 0.25: ours."),
    ),
    Reproduction(
        "revelio-threshold", "Revelio", "Curve", "Failure rate threshold τ", "experiment",
        "Share of sets whose failure rate reaches τ, against τ, for the three searches: one experiment with "
        "full samples holds the whole curve. No published numbers come with this lab.",
        algorithms=_PAPER_ALGORITHMS, guesses=GPTS,
    ),
    Reproduction(
        "revelio-figures", "Revelio", "Figures", "Which figure shows what is not known here", "unknown",
        "What the figures of the paper show is not among the data that come with this lab. It draws failure "
        "modes against inferences, curves over τ, and heatmaps of concepts and systems of its own.",
    ),
)  # fmt: skip
_MOST = (
    Reproduction(
        "most-table-3", "MoST", "Table 3", "Effectiveness", "modality",
        "Attack success, likeness of pictures and prompts, by system, scene type and regime, and which "
        "regimes differ.", number=3, guesses=MOST, page="modality_create",
    ),
    Reproduction(
        "most-table-4", "MoST", "Table 4", "Efficiency", "modality",
        "Budgets, evaluations and wall time by regime.", number=4, guesses=MOST, page="modality_create",
    ),
    Reproduction(
        "most-figure-3", "MoST", "Fig. 3", "How runs ended", "modality",
        "Distribution of outcomes: boxes below the threshold, empty, malformed, held.",
        guesses=MOST, page="modality_create",
    ),
    Reproduction(
        "most-figure-4", "MoST", "Fig. 4", "Not known here", "unknown",
        "What it shows is not among the data that come with this lab.",
    ),
    Reproduction(
        "most-figure-5", "MoST", "Fig. 5", "Not known here", "unknown",
        "What it shows is not among the data that come with this lab.",
    ),
    Reproduction(
        "most-figure-6", "MoST", "Fig. 6", "Sensitivity profile", "modality",
        "Attack success, IoU drop and budget by regime, as a radar and as bars.",
        guesses=MOST, page="modality_create",
    ),
    Reproduction(
        "most-figure-7", "MoST", "Fig. 7", "Where the budget goes", "modality",
        "Mean share of the final budget by operator and regime, as a heatmap.",
        guesses=MOST, page="modality_create",
    ),
)  # fmt: skip

REPRODUCTIONS: dict[str, Reproduction] = {one.slug: one for one in (*_REVELIO, *_MOST)}
