"""Pages of operators: pictures and prompts at rising severities, one picture as PNG, uploads, the map."""

import csv
import io

import numpy as np
import pytest
from django.utils.html import escape
from PIL import Image

from searches.models import Blob, Dataset, DatasetPicture
from searches.services.blobs import blob_path, store_blob
from searches.services.operator_pictures import THUMBNAIL_SIDE, WORKING_PIXELS
from tests.searches.pages.people import browser_of, statuses
from vlmlab.core.images import decode_png, encode_png
from vlmlab.core.most.evaluate import Perturber, SeedImage
from vlmlab.core.most.genotype import operator_space
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS
from vlmlab.core.scenes.masks import encode_mask
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
FOR_READERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
WIDTH, HEIGHT = 120, 90
BOX = [30.0, 20.0, 70.0, 60.0]


def pixels(width=WIDTH, height=HEIGHT):
    """Return a picture with a bright rectangle at BOX."""
    image = np.full((height, width, 3), 60, dtype=np.uint8)
    image[20:60, 30:70] = (220, 200, 40)
    return image


def make_picture(slug="streets", *, order=0, image=None, is_sample=False, masks=False, **values):
    image = pixels() if image is None else image
    dataset, _ = Dataset.objects.get_or_create(
        slug=slug,
        defaults={"title": slug.title(), "origin": "upload", "n_pictures": 1, "is_sample": is_sample},
    )
    mask = np.zeros(image.shape[:2], np.bool_)
    mask[20:60, 30:70] = True
    truth = {"label": "crate", "box": BOX, "is_asked": True, "mask": encode_mask(mask) if masks else ""}
    return DatasetPicture.objects.create(
        dataset=dataset,
        order=order,
        image_sha256=store_blob(encode_png(image)),
        width=image.shape[1],
        height=image.shape[0],
        annotations=[truth],
        **values,
    )


def picture_path(sha256, name="fog", severity="0.4", seed="3"):
    return f"/operators/pictures/{sha256}/{name}/{severity}/{seed}.png"


def test_readers_see_the_pages_and_researchers_upload():
    row = make_picture()

    for path in ("/operators/on-pictures/fog/", picture_path(row.image_sha256)):
        assert statuses(path) == FOR_READERS, path
    answers = statuses("/operators/upload/", method="post")
    assert (answers["researcher"], answers["reviewer"], answers["annotator"]) == (422, 403, 403)


def test_every_operator_is_shown_at_five_severities_beside_the_original():
    row = make_picture()

    page = browser_of(Role.REVIEWER).get("/operators/?seed=5")

    strips = page.context["strips"]
    assert [strip.operator.name for strip in strips] == list(IMAGE_OPERATORS)
    assert {len(strip.shots) for strip in strips} == {6}
    fog = next(strip for strip in strips if strip.operator.name == "fog")
    assert fog.shots[2].full_url == picture_path(row.image_sha256, seed="5")
    assert (fog.shots[0].parameter, fog.shots[5].parameter) == ("0", "2")
    html = page.content.decode()
    assert all(strip.title in html and escape(strip.sets) in html for strip in strips)
    assert html.count('loading="lazy"') == 6 * len(IMAGE_OPERATORS)


def test_geometry_shows_moved_boxes_and_other_operators_none():
    make_picture()

    strips = {
        one.operator.name: one for one in browser_of(Role.REVIEWER).get("/operators/").context["strips"]
    }

    still, moved = (strips["translate_scale"].shots[place].boxed.boxes for place in (0, 5))
    assert [(box.x, box.y, box.width, box.height) for box in still] == [(30.0, 20.0, 40.0, 40.0)]
    assert moved
    assert moved[0].x != 30.0
    assert strips["fog"].shots[5].boxed.boxes == ()


def test_a_family_narrows_the_page():
    make_picture()

    strips = browser_of(Role.REVIEWER).get("/operators/?family=noise").context["strips"]

    assert [one.operator.family for one in strips] == ["noise"] * 4


@pytest.mark.parametrize("rows", [1, 3])
def test_the_page_takes_the_same_queries_for_any_number_of_datasets(rows, django_assert_num_queries):
    for number in range(rows):
        make_picture(f"set-{number}")
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(
        7
    ):  # session, person, datasets, first place, picture, its file, navigation
        page = browser.get("/operators/")

    assert page.context["picture"].dataset_slug == "set-0"


def test_pictures_that_come_with_the_lab_are_shown_first():
    make_picture("aaa")
    make_picture("samples", is_sample=True)

    assert browser_of(Role.REVIEWER).get("/operators/").context["picture"].dataset_slug == "samples"


def test_without_a_picture_the_operators_are_listed_all_the_same():
    page = browser_of(Role.REVIEWER).get("/operators/").content.decode()

    assert "No picture to show" in page
    assert all(operator.summary in page for operator in IMAGE_OPERATORS.values())


@pytest.mark.parametrize(
    "query",
    [
        "order=7",
        "order=abc",
        "order=-1",
        "seed=-1",
        "seed=nan",
        f"seed={2**64}",
        "dataset=none",
        "family=moon",
    ],
)
def test_what_cannot_be_shown_is_said_and_the_page_stands(query):
    make_picture()

    page = browser_of(Role.REVIEWER).get(f"/operators/?{query}")

    assert page.status_code == 200
    assert page.context["form"].errors
    assert 'role="alert"' in page.content.decode()


def test_a_picture_whose_file_is_gone_is_not_shown():
    row = make_picture()
    Blob.objects.filter(pk=row.image_sha256).delete()

    page = browser_of(Role.REVIEWER).get("/operators/").content.decode()

    assert "The file of this picture is not kept." in page


# --- one picture --------------------------------------------------------------------------------------
def test_the_picture_is_what_a_run_with_that_seed_shows_a_system():
    row = make_picture()
    image = SeedImage(row.image_sha256, pixels(), "crate", "Find it.", np.array([BOX]))
    space = operator_space("image", image_operators=("fog",), text_operators=())
    perturber = Perturber(image, space=space, run_seed=3, embed=lambda texts: np.zeros((len(texts), 2)))

    answer = browser_of(Role.REVIEWER).get(picture_path(row.image_sha256))

    expected = IMAGE_OPERATORS["fog"].apply(pixels(), 0.4, perturber.rng_of("fog"))
    assert np.array_equal(decode_png(answer.content), expected)
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in answer["Cache-Control"]


def test_severity_zero_is_the_picture_itself():
    row = make_picture()

    answer = browser_of(Role.REVIEWER).get(picture_path(row.image_sha256, severity="0"))

    assert np.array_equal(decode_png(answer.content), pixels())


def test_an_unchanged_picture_is_not_sent_again():
    browser, path = browser_of(Role.REVIEWER), picture_path(make_picture().image_sha256)
    first = browser.get(path)

    second = browser.get(path, headers={"If-None-Match": first["ETag"]})

    assert (second.status_code, second.content) == (304, b"")


def test_small_pictures_are_small_and_large_ones_are_scaled_before_the_operator_acts():
    row = make_picture(image=np.full((1500, 2000, 3), 90, np.uint8))
    browser = browser_of(Role.REVIEWER)

    small = Image.open(io.BytesIO(browser.get(f"{picture_path(row.image_sha256)}?size=small").content))
    large = Image.open(io.BytesIO(browser.get(picture_path(row.image_sha256)).content))

    assert small.size == (THUMBNAIL_SIDE, THUMBNAIL_SIDE * 3 // 4)
    assert large.width * large.height <= WORKING_PIXELS
    assert large.width / large.height == pytest.approx(4 / 3, abs=0.01)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "nothing"},
        {"name": "char_swap"},
        {"severity": "2"},
        {"severity": "1.5"},
        {"severity": "-0.1"},
        {"severity": "nan"},
        {"severity": "1e-1"},
        {"severity": "0.1234567"},
        {"seed": "-1"},
        {"seed": "abc"},
        {"seed": "²"},
        {"seed": str(2**64)},
        {"seed": "1.0"},
    ],
)
def test_a_picture_that_cannot_be_is_not_found(change):
    row = make_picture()

    assert browser_of(Role.ADMIN).get(picture_path(row.image_sha256, **change)).status_code == 404


@pytest.mark.parametrize("sha256", ["ab" * 32, "x" * 64, "AB" * 32, "..", "ab" * 31, "%2e%2e%2fetc"])
def test_only_stored_pictures_are_shown(sha256):
    assert browser_of(Role.ADMIN).get(picture_path(sha256)).status_code == 404


# --- one operator -------------------------------------------------------------------------------------
@pytest.mark.parametrize("masks", [False, True])
def test_an_operator_shows_where_the_truth_is_and_when_it_is_not_honest_any_more(masks):
    make_picture(masks=masks)

    page = browser_of(Role.REVIEWER).get("/operators/on-pictures/spatter/")

    strip = page.context["strip"]
    assert [shot.boxed.boxes[0].label for shot in strip.shots] == ["crate"] * 6
    assert 0.0 < strip.cap <= 1.0
    assert [shot.is_admissible for shot in strip.shots] == [
        shot.severity <= strip.cap for shot in strip.shots
    ]
    assert ("Not admissible" in page.content.decode()) is (strip.cap < 1.0)


def test_an_operator_that_moves_and_hides_nothing_has_no_cap():
    make_picture()

    assert browser_of(Role.REVIEWER).get("/operators/on-pictures/contrast/").context["strip"].cap is None


def test_an_unknown_operator_is_not_found():
    assert browser_of(Role.REVIEWER).get("/operators/on-pictures/moon/").status_code == 404


# --- uploads ------------------------------------------------------------------------------------------
def upload(content, name="mine.png"):
    file = io.BytesIO(content)
    file.name = name
    return browser_of(Role.RESEARCHER).post("/operators/upload/", {"picture": file})


def test_an_uploaded_picture_is_stored_in_canonical_form_and_shown_without_boxes():
    out = io.BytesIO()
    Image.fromarray(pixels()).convert("CMYK").save(out, "JPEG")

    answer = upload(out.getvalue(), "mine.jpg")
    sha256 = answer.url.partition("upload=")[2]
    page = browser_of(Role.REVIEWER).get(answer.url)

    assert (answer.status_code, blob_path(sha256).exists()) == (302, True)
    assert (page.context["picture"].width, page.context["picture"].row) == (WIDTH, None)
    assert page.context["strips"][0].shots[5].boxed.boxes == ()
    assert browser_of(Role.REVIEWER).get(f"/operators/on-pictures/fog/{answer.url[11:]}").status_code == 200


@pytest.mark.parametrize(
    "content", [b"", b"no picture", b"GIF89a", encode_png(pixels())[:200], b"<svg onload=alert(1)>"]
)
def test_what_is_no_picture_is_refused_at_its_field(content):
    answer = upload(content)

    assert (answer.status_code, list(answer.context["upload_form"].errors)) == (422, ["picture"])
    assert not Blob.objects.exists()


def test_an_uploaded_picture_that_was_collected_is_said_to_be_gone():
    page = browser_of(Role.REVIEWER).get(f"/operators/?upload={'ab' * 32}").content.decode()

    assert "This picture is not kept any more. Upload it again." in page


# --- the level map ------------------------------------------------------------------------------------
def test_the_level_map_is_a_table_and_a_file():
    browser = browser_of(Role.REVIEWER)

    answer = browser.get("/operators/levels.csv")
    page = browser.get("/operators/").content.decode()

    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    known = [name for name, operator in IMAGE_OPERATORS.items() if operator.has_levels]
    assert [row["operator"] for row in rows] == [name for name in known for _ in range(5)]
    first = next(row for row in rows if row["operator"] == "gaussian_noise" and row["level"] == "3")
    assert first == {
        "operator": "gaussian_noise", "family": "noise", "level": "3", "severity": "0.45",
        "parameter": "sigma", "value": "0.18", "unit": "standard deviation as a share of full scale",
    }  # fmt: skip
    assert "0.450" in page
    assert answer["Content-Disposition"] == 'attachment; filename="severity-levels.csv"'


# --- prompts ------------------------------------------------------------------------------------------
