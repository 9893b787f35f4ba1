"""Follow-ups ask fresh scenes of suspects, pair their arms, and end by themselves, by a limit, or early."""

import pytest

from searches.enums import RunState
from searches.models import RunEvent, Sample, SearchRun
from tests.searches.engine import advance, as_new_process, scripted
from tests.searches.follow_up_engine import follow, follow_up_digest, suspects
from vlmlab.core.verdicts.queries import fresh_scene_seed

pytestmark = pytest.mark.django_db


def test_a_follow_up_asks_fresh_scenes_of_every_item_and_ends_by_itself():
    campaign = follow(suspects())
    run = campaign.runs.get()

    advance(run)

    assert run.state == RunState.SUCCEEDED
    assert run.ending == "3 sets asked in 18 inferences."
    assert (run.n_inferences, run.n_trials, run.samples.count()) == (18, 3, 18)
    items = list(run.items.all())
    assert [item.n for item in items] == [6, 6, 6]
    assert [item.state for item in items] == ["measured"] * 3
    assert [item.fails for item in items] == [
        run.samples.filter(trial__block=item.block, verdict="fail").count() for item in items
    ]
    assert items[0].fails >= 4 and items[2].fails <= 2
    assert {(one.scene_seed, one.trial.block) for one in run.samples.select_related("trial")} == {
        (fresh_scene_seed(5, item.block, number), item.block) for item in items for number in range(6)
    }
