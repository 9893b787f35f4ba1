"""Two workers spend on one system at the same time: its limit holds, and every call is counted once."""

from django.db.models import Sum

from searches.enums import RunState
from searches.models import SearchRun, SpendDay, SutRecord
from tests.searches.engine import scripted, start_run

from .lab import Lab, wait_for

CAP = 0.5


def test_two_workers_on_one_system_never_pass_its_limit(lab: Lab, settings):
    settings.LEASE_SECONDS = 600  # a worker that is only slow keeps its run
    sut = scripted(price_usd=0.01, spend_cap_usd=CAP, latency_ms=5)
    runs = [start_run(sut, run_seed=seed, inference_budget=60).pk for seed in (1, 2)]

    for _ in runs:
        lab.start_worker()
    wait_for(lambda: SearchRun.objects.filter(pk__in=runs, state=RunState.PAUSED).count() == 2)

    sut = SutRecord.objects.get(pk=sut.pk)
    batch = 8 * 0.01
    assert CAP - batch < sut.spend_usd <= CAP + 1e-9
    spent = SearchRun.objects.filter(pk__in=runs).aggregate(usd=Sum("spend_usd"), calls=Sum("n_calls"))
    assert abs(spent["usd"] - sut.spend_usd) < 1e-9
    assert spent["calls"] == sut.n_calls == sum(SpendDay.objects.values_list("n_calls", flat=True))
    assert not SearchRun.objects.filter(reserved_usd__gt=0).exists()
