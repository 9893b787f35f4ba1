"""The shell confirms test cases and shows them to other systems."""

import json

import pytest
from django.core.management import CommandError, call_command

from searches.models import Campaign
from tests.searches.case_engine import cases_of, find_cases
from tests.searches.engine import as_new_process
from tests.searches.modality_engine import never_breaks

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_process():
    as_new_process()
    yield
    as_new_process()


def test_the_failing_cases_of_a_campaign_are_confirmed_and_printed(capsys, tmp_path):
    campaign = find_cases()
    [case] = cases_of(campaign)
    out = tmp_path / "out.json"

    call_command("follow_up", "confirm", "--campaign", str(campaign.pk), "--wait", "--json", str(out))

    line = capsys.readouterr().out.splitlines()[1]
    assert f"case {case.pk}" in line
    assert "confirmed" in line
    [item] = json.loads(out.read_text())["items"]
    assert (item["case"], item["state"], item["fails"]) == (case.pk, "confirmed", item["samples"])


def test_cases_are_shown_to_another_system(capsys):
    [case] = cases_of(find_cases())
    target = never_breaks()

    call_command(
        "follow_up",
        "transfer",
        "--case",
        str(case.pk),
        "--sut",
        target.slug,
        "--param",
        "random=no",
        "--wait",
    )

    assert "holds" in capsys.readouterr().out
    assert Campaign.objects.get(kind="transfer").items.get().n == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ablate"], "There is no follow-up"),
        (["transfer", "--param", "draws=many"], "draws must be a whole number"),
        (["transfer", "--param", "random=perhaps"], "random must be true or false"),
        (["transfer"], "No system is chosen"),
        (["confirm", "--param", "protocol=paper"], "confirmed sequentially"),
    ],
)
def test_wrong_words_are_refused(words, message):
    [case] = cases_of(find_cases())

    with pytest.raises(CommandError, match=message):
        call_command("follow_up", *words, "--case", str(case.pk))
