"""Warns when a provider answered with another model than the one that was asked for."""

from collections.abc import Sequence

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KT

from searches.models import Sample, SearchRun, SutRecord, SutVersion
from vlmlab.core.suts.kinds import SUT_KINDS
from vlmlab.core.suts.served import is_other_model


def other_model_warning(sut: SutRecord, run_ids: Sequence[int]) -> str:
    """Return which other models answered in runs of one system, "" when none did or none can.

    One query, which looks at the two ends of an index and not at every sample: where three or more models
    answered, the first and the last of the alphabet are compared. The model that was asked is that of the
    version with which a run was made, not what the registration says today.

    Args:
        sut: the system of all the runs.
        run_ids: few of them.
    """
    if not run_ids or sut.kind not in SUT_KINDS or not SUT_KINDS[sut.kind].is_remote:
        return ""
    registered = str(sut.params.get("model", ""))
    found = sorted(
        {
            (str(asked or registered), served)
            for asked, *ends in _asked_and_served(run_ids)
            for served in ends
            if served and is_other_model(str(asked or registered), served)
        }
    )
    if not found:
        return ""
    asked, served = found[0][0], " and ".join(dict.fromkeys(name for _, name in found))
    return (
        f"Asked for {asked}, the provider answered with {served}. These answers say nothing about {asked}: "
        "check the name in the settings of the system, or register the other model under its own name."
    )


def _asked_and_served(run_ids: Sequence[int]) -> "QuerySet[SearchRun, tuple[str | None, ...]]":
    samples = Sample.objects.filter(run=OuterRef("pk")).exclude(served_model="")
    version = SutVersion.objects.filter(sut=OuterRef("sut"), fingerprint=OuterRef("loaded_as"))
    return (
        SearchRun.objects.filter(pk__in=run_ids)
        .order_by()
        .annotate(loaded_as=KT("checkpoint__fingerprint"))
        .annotate(
            asked=Subquery(version.values(model=KT("params__model"))[:1]),
            first=Subquery(samples.order_by("served_model").values("served_model")[:1]),
            last=Subquery(samples.order_by("-served_model").values("served_model")[:1]),
        )
        .values_list("asked", "first", "last")
    )
