"""What making pictures costs: checked against the limit of a run before, written down whatever happens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from searches.models import PictureSource, SearchRun
from searches.services.scene_sources import find_source
from searches.services.search_limits import SceneSettings
from searches.services.source_context import backend_kind, source_params
from searches.services.spending import SMALLEST_USD, SpendingLimitError, run_cap_of
from vlmlab.core.errors import DrawingStoppedError, GenerationError, SourceAwayError, VlmLabError
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.scenes.scene import GeneratedScene, KeepsPaid, SceneSource
from vlmlab.web.numbers import write_money


@dataclass
class PictureBill:
    """What one batch of pictures brought so far."""

    n_pictures: int = 0
    n_refusals: int = 0
    cost_usd: float = 0.0
    last_error: str = ""


class BilledSource:
    """A ``SceneSource`` that writes down what another one makes, and stops before a limit would be passed.

    Args:
        source: what makes the pictures.
        left_usd: what may still be spent; None without a limit.
        most_usd: the most that one picture can cost; None when its price is unknown.
        on_paid: takes the bill as soon as something was paid, for a process that is killed writes no more.
    """

    def __init__(
        self,
        source: SceneSource,
        *,
        left_usd: float | None,
        most_usd: float | None,
        on_paid: Callable[[PictureBill], None] | None = None,
    ) -> None:
        self._source, self._left_usd, self._most_usd = source, left_usd, most_usd
        self._on_paid = on_paid
        self.bill = PictureBill()

    @property
    def identity(self) -> str:
        """That of the source."""
        return self._source.identity

    def generate(self, concepts: tuple[str, ...], *, seed: int) -> GeneratedScene:
        """Return a scene of the source.

        Raises:
            SpendingLimitError: the next picture may cost more than is left.
            GenerationError: as the source says.
        """
        self._check_left(concepts, seed)
        try:
            scene = self._source.generate(concepts, seed=seed)
        except GenerationError as error:
            if not isinstance(error, SourceAwayError):
                self.bill.n_refusals += error.n_refusals or 1
            if not isinstance(error, DrawingStoppedError):
                self.bill.last_error = str(error)
            self._paid(error.cost_usd)
            raise
        self.bill.n_pictures += 1
        self._paid(scene.cost_usd)
        return scene

    def _paid(self, cost_usd: float) -> None:
        self.bill.cost_usd += cost_usd
        if self._left_usd is not None:
            self._left_usd -= cost_usd
        if cost_usd and self._on_paid is not None:
            self._on_paid(self.bill)
            self.bill = PictureBill()

    def _check_left(self, concepts: tuple[str, ...], seed: int) -> None:
        if self._left_usd is None or self._most_usd == 0:
            return
        if isinstance(self._source, KeepsPaid) and self._source.is_paid(concepts, seed=seed):
            return
        if self._most_usd is None:
            raise SpendingLimitError(
                "The price of a picture is unknown, so the spending limit of this run cannot be kept.",
                hint="Enter it on the picture source's page or take the limit away, then resume.",
            )
        left = self._left_usd
        if self._most_usd > left + SMALLEST_USD:
            raise SpendingLimitError(
                f"The spending limit of this run is reached: the next picture may cost up to "
                f"{write_money(self._most_usd)}, {write_money(max(0.0, left))} are left.",
                hint="Raise the limit to go on, or end the run with what it has.",
            )


@contextmanager
def billed(run: SearchRun, config: SceneSettings, source: SceneSource) -> Iterator[SceneSource]:
    """Count what a source makes for a run, also when the block fails; its price becomes part of the run's.

    The embedded renderer costs nothing and is not counted.
    """
    if config.backend == EMBEDDED:
        yield source
        return
    row = find_source(config.backend)
    cap = run_cap_of(run, config)
    counted = BilledSource(
        source,
        left_usd=None if cap is None else cap - run.spend_usd,
        most_usd=most_a_picture_costs(row),
        on_paid=lambda bill: _write(run, row, bill),
    )
    try:
        yield counted
    finally:
        _write(run, row, counted.bill)


@contextmanager
def billed_without_run(backend: str, source: SceneSource) -> Iterator[SceneSource]:
    """Count what a source makes outside of runs, such as a scene that is drawn again, also when it fails."""
    if backend == EMBEDDED:
        yield source
        return
    row = find_source(backend)
    counted = BilledSource(source, left_usd=None, most_usd=None)
    try:
        yield counted
    finally:
        _write(None, row, counted.bill)


def most_a_picture_costs(source: PictureSource) -> float | None:
    """Return the most that one picture of a source can cost; None when its price is unknown."""
    try:
        return backend_kind(source.kind).picture_usd(source_params(source))
    except VlmLabError:  # whoever loads it says what is wrong with its settings
        return None


def most_pictures_cost(config: SceneSettings) -> float | None:
    """Return the most that one picture of a search can cost; 0 for drawn ones, None when unknown."""
    if config.backend == EMBEDDED:
        return 0.0
    source = PictureSource.objects.filter(slug=config.backend).first()
    return 0.0 if source is None else most_a_picture_costs(source)


@transaction.atomic
def _write(run: SearchRun | None, source: PictureSource, bill: PictureBill) -> None:
    if not (bill.n_pictures or bill.n_refusals or bill.cost_usd or bill.last_error):
        return
    values = {
        "n_pictures": F("n_pictures") + bill.n_pictures,
        "n_refusals": F("n_refusals") + bill.n_refusals,
        "spend_usd": F("spend_usd") + bill.cost_usd,
    }
    error = {"last_error": bill.last_error, "last_error_at": timezone.now()} if bill.last_error else {}
    PictureSource.objects.filter(pk=source.pk).update(**values, **error)
    if bill.cost_usd and run is not None:
        SearchRun.objects.filter(pk=run.pk).update(spend_usd=F("spend_usd") + bill.cost_usd)
        run.spend_usd += bill.cost_usd  # the calls of this batch are checked against what is left now
