"""Regressions: try a system on a family of pinned failure modes, and read the verdict."""

from django.http import Http404, HttpRequest
from ninja import Router, Status

from searches import launch
from searches.api.operations import operation, person_of
from searches.api.shapes.regressions import NewRegression, RegressionShape
from searches.models import RegressionFamily, SutRecord
from searches.services.family_pages import find_family
from searches.services.regression_wishes import regression_wish
from searches.services.regressions import find_regression
from vlmlab.core.errors import ConfigError

router = Router(tags=["Regressions"])


@operation(router, "POST", "/regressions", response=RegressionShape, status=201, errors=(422,))
def start_regression(request: HttpRequest, payload: NewRegression) -> Status[RegressionShape]:
    """Try a system on a regression family.

    The system and the baseline are asked the same fresh scenes; workers of the lab do it. The same request
    sent again within a minute starts nothing new. Read it again until `is_ended`.
    """
    wish = regression_wish(
        _family(payload.family),
        candidate=_sut(payload.sut, field="sut"),
        baseline=_sut(payload.baseline, field="baseline") if payload.baseline else None,
        scenes=payload.scenes,
        run_seed=payload.seed,
    )
    return Status(201, RegressionShape.of(launch.start_follow_up(wish, by=person_of(request))))


@operation(router, "GET", "/regressions/{int:regression_id}", response=RegressionShape, errors=(404,))
def read_regression(request: HttpRequest, regression_id: int) -> RegressionShape:
    """Read a regression with every mode."""
    campaign = find_regression(regression_id)
    if campaign is None:
        raise Http404(f"There is no regression {regression_id}.")
    return RegressionShape.of(campaign)


def _family(slug: str) -> RegressionFamily:
    family = find_family(slug)
    if family is None:
        raise ConfigError(
            f"There is no regression family “{slug}”.", hint="Its page shows its short name.", field="family"
        )
    return family


def _sut(slug: str, *, field: str) -> SutRecord:
    found = SutRecord.objects.filter(slug=slug).first()
    if found is None:
        raise ConfigError(f"There is no system “{slug}”.", hint="GET suts lists them.", field=field)
    return found
