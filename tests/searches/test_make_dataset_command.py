"""``make_dataset`` draws a dataset in this process, goes on with one that was cut short, tells the digest."""

import io

import pytest
from django.core.management import CommandError, call_command

from searches.enums import DatasetState
from searches.models import Dataset
from searches.services.dataset_making import make_pictures, start_dataset
from searches.services.datasets import checked_recipe, create_dataset, recipe_of
from tests.doubles import FlatSceneSource
from vlmlab.core.errors import GenerationError

pytestmark = pytest.mark.django_db
SMALL = {"n": 4, "size": "128x96", "strata": "street,junction"}


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"


def make(**options) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("make_dataset", stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_it_makes_the_pictures_and_tells_the_digest():
    out, err = make(title="Streets", **SMALL)

    dataset = Dataset.objects.get()
    assert (dataset.slug, dataset.state, dataset.n_pictures) == ("streets", DatasetState.READY, 4)
    assert out == f"streets: 4 pictures, digest {recipe_of(dataset).digest}\n"
    assert "4 of 4" in err


def test_the_same_seed_gives_the_same_digest_under_another_name():
    first, _ = make(title="One", seed=5, **SMALL)
    second, _ = make(slug="two", seed=5, **SMALL)
    third, _ = make(slug="three", seed=6, **SMALL)

    digests = [text.split()[-1] for text in (first, second, third)]
    assert digests[0] == digests[1] != digests[2]


def test_it_goes_on_with_one_that_was_cut_short():
    recipe = checked_recipe(n=4, seed=0, width=128, height=96, strata=("street", "junction"))
    dataset = create_dataset(recipe, title="Cut", by=None)
    next(make_pictures(dataset))

    out, _ = make(slug="cut")
    whole, _ = make(title="Whole", **SMALL)

    assert out.split()[-1] == whole.split()[-1]


def test_it_leaves_alone_what_a_worker_draws():
    start_dataset(checked_recipe(n=4, width=128, height=96, strata=("street",)), title="Busy", by=None)

    with pytest.raises(CommandError, match="A worker draws busy already") as problem:
        make(slug="busy")

    assert problem.value.returncode == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"title": "X", "size": "big"}, "Width is refused"),
        ({"title": "X", "strata": "moon"}, "There is no kind of scene “moon”"),
        ({"title": "X", "n": 0}, "N is refused"),
        ({"title": "X", "backend": "nobody"}, "There is no picture source “nobody”"),
        ({}, "Give the dataset a title"),
        ({"slug": "No Slug"}, "“No Slug” cannot be a short name"),
        ({"slug": "new"}, "“new” cannot be a short name"),
    ],
)
def test_wrong_arguments_are_told_and_nothing_is_stored(options, words):
    with pytest.raises(CommandError, match=words) as problem:
        make(**SMALL | options)

    assert (problem.value.returncode, Dataset.objects.count()) == (2, 0)


def test_a_finished_one_is_not_made_again():
    make(slug="done", **SMALL)

    with pytest.raises(CommandError, match="There is a dataset “done” already"):
        make(slug="done", **SMALL)


def test_places_without_a_picture_are_told(monkeypatch):
    def refuse(source, concepts, *, seed):
        raise GenerationError("Nothing fits.")

    monkeypatch.setattr(FlatSceneSource, "generate", refuse)

    with pytest.raises(CommandError, match="No picture could be drawn") as problem:
        make(title="None", **SMALL)

    assert problem.value.returncode == 1
