"""Files of a modality campaign: full precision, no formulas, LaTeX that LaTeX takes."""

import csv
import io
import json
import re

import pytest

from searches.services.modality_exports import EXPORTS, export_lines
from searches.services.modality_latex import LatexTable, Raw, latex_escaped, latex_lines, starred
from searches.services.modality_profiles import profile_page
from searches.services.modality_tables import Choice
from tests.factories import make_sut
from tests.searches.modality_factory import (
    Ending,
    make_drawn_campaign,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.core.most.outcomes import FailureCriterion

pytestmark = pytest.mark.django_db
HOSTILE = "=HYPERLINK(1)"


def text_of(campaign, what, fmt, **choice):
    return "".join(export_lines(campaign, Choice(**choice), what=what, fmt=fmt))


def csv_rows(campaign, what, **choice):
    return list(csv.DictReader(io.StringIO(text_of(campaign, what, "csv", **choice))))


def one_third():
    """Three seed images, one regime: one breaks, with numbers that have no short decimal form."""
    campaign = make_modality_campaign(make_seed_dataset(3, strata=("street",)))
    make_grid(
        campaign,
        suts=[make_sut("one", name="One & only_100%")],
        regimes=("image",),
        ended=lambda place: Ending(
            iou=0.1 if place.number == 0 else 0.7, ms_ssim=1 / 3, severities={"fog": 0.1 + 0.2}, wall_s=1 / 7
        ),
    )
    return campaign


@pytest.mark.parametrize("what", list(EXPORTS))
def test_csv_and_json_hold_the_same_numbers_in_full_precision(what):
    campaign = make_drawn_campaign(8)

    from_csv = csv_rows(campaign, what)
    document = json.loads(text_of(campaign, what, "json"))

    written = [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in document["rows"]
    ]
    assert len(from_csv) > 3
    assert written == from_csv
    assert document["about"]["iou_threshold"] == 0.5
    assert document["about"]["reading"] == "strict"


def test_rates_come_with_counts_and_interval():
    (row,) = csv_rows(one_third(), "effectiveness", stratum="street")

    assert (row["sut"], row["scene_type"], row["regime"]) == ("one", "street", "image")
    assert (row["asr_c1_k"], row["asr_c1_n"], row["asr_c1"]) == ("1", "3", str(1 / 3))
    assert float(row["asr_c1_low"]) == pytest.approx(0.0614919, abs=1e-6)
    assert (row["ms_ssim_mean"], row["ms_ssim_n"]) == (str(1 / 3), "3")


def on_two_types():
    """Two systems on eight street and four kitchen pictures: every image breaks the first, no text does."""
    campaign = make_modality_campaign(make_seed_dataset(12, strata=("street", "street", "kitchen")))
    for slug in ("one", "two"):
        make_grid(
            campaign,
            suts=[make_sut(slug, name=slug.capitalize())],
            ended=lambda place: Ending(iou=0.8 if place.regime == "text" else 0.2),
        )
    return campaign


def test_rows_over_all_scene_types_say_what_the_page_says():
    campaign = on_two_types()

    rows = [row for row in csv_rows(campaign, "effectiveness") if row["sut"] == "one"]
    pooled = [row for row in rows if row["scope"] == "all scene types"]
    costs = [row for row in csv_rows(campaign, "efficiency") if row["scene_type"] == "all"]

    assert [(row["scene_type"], row["regime"]) for row in rows[6:]] == [
        ("all", "image"), ("all", "text"), ("all", "joint"),
    ]  # fmt: skip
    page = profile_page(campaign, Choice(sut="one"))
    assert [f"{row['asr_c1_k']} / {row['asr_c1_n']}" for row in pooled] == ["12 / 12", "0 / 12", "12 / 12"]
    assert [cell.text for cell in page.rates[0].numbers] == ["12 / 12", "0 / 12", "12 / 12"]
    assert [float(row["ms_ssim_mean"]) for row in pooled] == pytest.approx(
        [one.effectiveness.ms_ssim.mean for one in page.source.numbers]
    )
    assert [(row["sut"], row["evaluations_n"]) for row in costs[::3]] == [("one", "12"), ("two", "12")]


def test_no_rows_over_all_scene_types_where_one_was_chosen():
    rows = csv_rows(on_two_types(), "outcomes", stratum="kitchen")

    assert {(row["scope"], row["scene_type"]) for row in rows} == {("scene type", "kitchen")}


def test_a_latex_caption_says_how_many_tests_each_kind_of_row_was_adjusted_over():
    campaign = on_two_types()

    text = text_of(campaign, "effectiveness", "tex", sut="one")
    costs = text_of(campaign, "efficiency", "tex", sut="one")
    narrowed = text_of(campaign, "effectiveness", "tex", sut="one", stratum="kitchen")

    # two systems; three pairs of regimes for rates, one for NED; two scene types
    assert "rows of one scene type: 12 tests a rate, 4 to 12 tests any other measure" in text
    assert "rows of all: 6 tests a rate, 2 to 6 tests any other measure)" in text
    assert "rows of all: 2 to 6 tests a measure)" in costs
    assert len([line for line in text.splitlines() if line.startswith("One & All &")]) == 3
    assert "after Holm; 12 tests a rate, 4 to 12 tests any other measure)" in narrowed


def test_pooled_stars_are_those_of_the_pooled_family():
    text = text_of(on_two_types(), "effectiveness", "tex", sut="one")

    kitchen, pooled = (
        next(line for line in text.splitlines() if line.startswith(f"One & {name} & Text"))
        for name in ("kitchen", "All")
    )
    assert kitchen.split(" & ")[3] == "0 / 4"  # 2 / 2**4
    assert pooled.split(" & ")[3] == "0 / 12$^{**}$"  # 2 / 2**12, six tests


def test_pooled_comparisons_are_printed_with_their_own_number_of_tests():
    text = text_of(on_two_types(), "comparisons", "tex")

    lines = [line.rstrip("\\ ").split(" & ") for line in text.splitlines() if " & One & " in line]
    assert {(line[2], line[-1]) for line in lines if line[0].startswith("ASR")} == {
        ("Street", "12"), ("kitchen", "12"), ("All", "6"),
    }  # fmt: skip


def test_costs_and_outcomes_are_those_of_the_runs():
    campaign = one_third()

    (cost,), (outcome,) = (csv_rows(campaign, what, stratum="street") for what in ("efficiency", "outcomes"))

    assert (cost["image_budget_mean"], cost["wall_s_mean"]) == (str(0.1 + 0.2), str(1 / 7))
    assert [outcome[name] for name in ("below", "empty", "malformed", "held", "finished")] == [
        "1", "0", "0", "2", "3",
    ]  # fmt: skip


def test_a_run_a_line_names_its_seed_image():
    campaign = one_third()
    picture = campaign.dataset.pictures.order_by("order")[0]

    first, *others = csv_rows(campaign, "runs")

    assert len(others) == 2
    assert (first["file_name"], first["image_sha256"]) == (picture.file_name, picture.image_sha256)
    assert (first["outcome"], first["status"], first["iou"]) == ("below", "finished", "0.1")


def test_a_file_can_be_narrowed_to_a_system_and_a_scene_type():
    campaign = make_drawn_campaign(8)
    sut = campaign.modality_runs.values_list("sut__slug", flat=True).order_by("sut__slug").first()

    rows = csv_rows(campaign, "effectiveness", sut=sut, stratum="kitchen")

    assert {(row["sut"], row["scene_type"]) for row in rows} == {(sut, "kitchen")}


def test_no_cell_of_a_csv_file_is_a_formula():
    campaign = make_modality_campaign(make_seed_dataset(1, strata=(HOSTILE,), label="@cmd"))
    campaign.dataset.pictures.update(file_name="+1.png")
    make_grid(campaign, suts=[make_sut("one")], ended=lambda _: Ending(), regimes=("image",))

    (run,) = csv_rows(campaign, "runs")
    cell, _ = csv_rows(campaign, "outcomes")

    assert (run["file_name"], run["label"], run["scene_type"]) == ("'+1.png", "'@cmd", f"'{HOSTILE}")
    assert cell["scene_type"] == f"'{HOSTILE}"


@pytest.mark.parametrize("what", [what for what, export in EXPORTS.items() if export.has_latex])
def test_a_latex_table_has_as_many_cells_a_row_as_columns(what):
    campaign = make_drawn_campaign(12)

    text = text_of(campaign, what, "tex")

    alignment = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)[1]
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert len(rows) > 3
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(alignment)}
    assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == 1
    assert "\\caption{" in text


def test_names_are_escaped_in_latex():
    text = text_of(one_third(), "effectiveness", "tex")

    assert r"One \& only\_100\% & Street & Image & 1 / 3 & 1 / 3 & 1 / 3" in text


def test_every_special_sign_is_escaped():
    assert latex_escaped("a_b & 50% #1 {x} $y$ ~ ^ \\ <z>\n\x00é") == (
        r"a\_b \& 50\% \#1 \{x\} \$y\$ \textasciitilde{} \textasciicircum{} \textbackslash{} "
        r"\textless{}z\textgreater{} é"
    )


def test_groups_are_set_apart_and_raw_cells_stay():
    table = LatexTable(
        "A caption", "tab:x", "lr", ("a", "b"), [["1", Raw("$x$")], ["2", "y"]], frozenset({1})
    )

    assert "".join(latex_lines(table)) == (
        "% \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{A caption}\n\\label{tab:x}\n"
        "\\begin{tabular}{lr}\n\\toprule\na & b \\\\\n\\midrule\n1 & $x$ \\\\\n\\addlinespace\n2 & y \\\\\n"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )


def test_stars_are_raised():
    assert (starred("1 / 3", "**"), starred("1 / 3", "")) == (Raw("1 / 3$^{**}$"), Raw("1 / 3"))


def test_stars_of_a_table_are_those_of_the_comparison_with_joint():
    campaign = make_modality_campaign(make_seed_dataset(12, strata=("street",)))
    make_grid(
        campaign,
        suts=[make_sut("one")],
        ended=lambda place: Ending(iou=0.8 if place.regime == "text" else 0.2),
    )

    lines = text_of(campaign, "effectiveness", "tex").splitlines()

    image, text, joint = (line for line in lines if line.startswith("One & Street"))
    assert image.split(" & ")[3] == "12 / 12"
    assert text.split(" & ")[3] == "0 / 12$^{**}$"  # 2 / 2**12, three tests
    assert joint.split(" & ")[3] == "12 / 12"


def test_operators_are_those_of_the_criterion():
    campaign = one_third()

    rows = csv_rows(campaign, "operators", criterion=FailureCriterion.C2)

    assert [(row["operator"], row["failures"], row["failing_cases"], row["alone"]) for row in rows] == [
        ("fog", "1", "1", "1")
    ]


@pytest.mark.parametrize(("what", "fmt"), [("nonsense", "csv"), ("runs", "tex"), ("outcomes", "xlsx")])
def test_there_is_no_other_file(what, fmt):
    assert export_lines(one_third(), Choice(), what=what, fmt=fmt) is None


def test_a_campaign_without_a_finished_run_gives_tables_without_numbers():
    campaign = make_modality_campaign(make_seed_dataset(2, strata=("street",)))
    make_grid(campaign, suts=[make_sut("one")], ended=lambda _: Ending("unfinished"), regimes=("image",))

    row, _ = csv_rows(campaign, "effectiveness")

    assert (row["asr_c1"], row["asr_c1_n"], row["swtd_mean_mean"]) == ("", "0", "")
    assert "0 / 0" in text_of(campaign, "effectiveness", "tex")
