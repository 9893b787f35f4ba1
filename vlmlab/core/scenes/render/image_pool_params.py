"""The row of the image pool in the table of back ends; light, because web processes read it too."""

from typing import Literal

from pydantic import Field

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.pool_coverage import Match, concepts_without_pictures
from vlmlab.core.scenes.pools import PicturePool
from vlmlab.core.scenes.render.backend_kinds import BackendContext, BackendKind, BackendParams
from vlmlab.core.scenes.scene import SceneSource

IMAGE_POOL = "image_pool"
Fit = Literal["contain", "cover"]


class ImagePoolParams(BackendParams):
    """How pictures of a pool are chosen and brought to the size of a run."""

    match: Match = Field(
        "contains",
        title="Which pictures fit a set",
        description="Pictures that show all of the set, whatever else they show; or only those where that "
        "leaves the question and the expected answer as they are; or those with no other concept of the "
        "domain.",
    )
    fit: Fit = Field(
        "contain",
        title="Other proportions",
        description="The whole picture between grey bars; or cut to fill the frame, where what is cut off "
        "does not count as shown.",
    )


def pool_of(context: BackendContext) -> PicturePool:
    """Return the pool that a source draws from.

    Raises:
        GenerationError: it has none, or an empty one.
    """
    if context.pool is None:
        raise GenerationError(
            "This picture source has no dataset.", hint="Choose one on its page.", field="dataset"
        )
    if not context.pool.pictures:
        raise GenerationError(
            f"The dataset {context.pool.slug} has no pictures.", hint="Choose another.", field="dataset"
        )
    return context.pool


def _obstacle(_domain: Domain) -> str:
    return ""


def _check(domain: Domain, _params: BackendParams, context: BackendContext) -> None:
    pool = pool_of(context)
    if len(concepts_without_pictures(domain, pool)) == len(domain.concepts):
        raise GenerationError(
            f"No picture of {pool.slug} shows a concept of {domain.title}.",
            hint="Choose a dataset whose labels are mapped to the concepts of this domain.",
            field="dataset",
        )


def _unpictured(domain: Domain, _params: BackendParams, context: BackendContext) -> tuple[str, ...]:
    return concepts_without_pictures(domain, pool_of(context))


def _load(
    domain: Domain, params: BackendParams, context: BackendContext, *, width: int, height: int
) -> SceneSource:
    # Imported here: it brings Pillow's resampling, which a form never needs.
    from vlmlab.core.scenes.render.image_pool import ImagePoolSource

    assert isinstance(params, ImagePoolParams)
    return ImagePoolSource(pool_of(context), domain, params, width=width, height=height)


IMAGE_POOL_KIND = BackendKind(
    name=IMAGE_POOL,
    title="Pool of pictures",
    description="Takes pictures from a dataset whose pictures are tagged with concepts.",
    needs="A dataset: pictures with a COCO file or a table of concepts.",
    params=ImagePoolParams,
    obstacle=_obstacle,
    check=_check,
    load=_load,
    takes_pool=True,
    unpictured=_unpictured,
)
