"""What all operators on pictures promise, and how several are applied to one picture."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.core.perturb.image_cases import ODD_SHAPES, distance, photograph, rng, small_pictures
from vlmlab.core.perturb import IMAGE_OPERATORS, perturb_image
from vlmlab.core.perturb.geometry_resample import warped_image
from vlmlab.core.perturb.image_levels import LEVEL_SEVERITIES
from vlmlab.core.perturb.image_operator import FAMILIES, check_size
from vlmlab.core.perturb.image_operators import active_severities, strategy_warp

NAMES = (
    *("rotate", "shear", "perspective", "translate_scale", "elastic_transform"),
    *("brightness", "contrast", "saturate", "hue_shift", "shadow"),
    *("fog", "rain", "snow", "sun_glare", "frost", "spatter"),
    *("defocus_blur", "gaussian_blur", "motion_blur", "zoom_blur"),
    *("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise"),
    *("pixelate", "jpeg_compression"),
)
every_operator = pytest.mark.parametrize("name", NAMES)


def test_the_operators_stand_in_physical_order():
    families = [operator.family for operator in IMAGE_OPERATORS.values()]

    assert tuple(IMAGE_OPERATORS) == NAMES
    assert families == sorted(families, key=FAMILIES.index)
    assert all(name == operator.name for name, operator in IMAGE_OPERATORS.items())


@every_operator
def test_severity_0_returns_the_same_bytes_without_a_draw(name):
    picture, generator = photograph(), rng(name)
    before = generator.bit_generator.state

    same = IMAGE_OPERATORS[name].apply(picture, 0.0, generator)

    assert same.tobytes() == picture.tobytes()
    assert not np.shares_memory(same, picture)
    assert generator.bit_generator.state == before


@every_operator
def test_the_same_seed_gives_the_same_bytes_and_leaves_the_picture_alone(name):
    picture = photograph()
    before = picture.tobytes()

    first = IMAGE_OPERATORS[name].apply(picture, 0.4, rng(name))
    second = IMAGE_OPERATORS[name].apply(picture.copy(), 0.4, rng(name))

    assert first.tobytes() == second.tobytes() != before
    assert picture.tobytes() == before
    assert (first.shape, first.dtype, first.flags.writeable) == (picture.shape, np.uint8, True)


@every_operator
def test_what_is_drawn_does_not_depend_on_the_severity(name):
    weak, strong = rng(name), rng(name)

    IMAGE_OPERATORS[name].apply(photograph(), 0.1, weak)
    IMAGE_OPERATORS[name].apply(photograph(), 0.9, strong)

    assert weak.bit_generator.state == strong.bit_generator.state


@every_operator
def test_the_parameter_grows_strictly_with_the_severity(name):
    operator = IMAGE_OPERATORS[name]

    values = [operator.parameter(step / 200) for step in range(201)]

    assert values[0] == operator.quantity.weakest
    assert values[-1] == pytest.approx(operator.quantity.strongest)
    assert (np.diff(values) > 0.0).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("rotate", "hue_shift")])
def test_the_mean_distance_over_50_pictures_grows_with_the_severity(name):
    severities = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
    pictures = small_pictures(50)

    means = [
        np.mean(
            [
                distance(IMAGE_OPERATORS[name].apply(picture, severity, rng(name, seed)), picture)
                for seed, picture in enumerate(pictures)
            ]
        )
        for severity in severities
    ]

    assert spearmanr(severities, means).statistic >= 0.95


@every_operator
def test_weak_severities_change_little(name):
    picture = photograph()

    changes = [distance(IMAGE_OPERATORS[name].apply(picture, s, rng(name)), picture) for s in (0.001, 0.5)]

    assert changes[0] < max(2.5, 0.2 * changes[1])


@every_operator
@pytest.mark.parametrize("shape", ODD_SHAPES)
def test_pictures_of_any_shape_keep_it(name, shape):
    picture = rng().integers(0, 256, (*shape, 3), dtype=np.uint8)

    shapes = {IMAGE_OPERATORS[name].apply(picture, s, rng(name)).shape for s in (0.02, 0.3, 1.0)}

    assert shapes == {(*shape, 3)}


@every_operator
def test_a_view_is_perturbed_like_its_copy(name):
    view = photograph()[::2, ::-1]

    assert (
        IMAGE_OPERATORS[name].apply(view, 0.3, rng(name)).tobytes()
        == IMAGE_OPERATORS[name].apply(view.copy(), 0.3, rng(name)).tobytes()
    )


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (np.zeros((4, 4), np.uint8), r"must be \(height, width, 3\).*got \(4, 4\)"),
        (np.zeros((4, 4, 4), np.uint8), r"got \(4, 4, 4\); vlmlab.core.images.read_image"),
        (np.zeros((4, 4, 1), np.uint8), r"got \(4, 4, 1\)"),
        (np.zeros((0, 4, 3), np.uint8), r"got \(0, 4, 3\)"),
        (np.zeros((4, 4, 3), np.float32), "must be an array of uint8, got an array of float32"),
        ([[1, 2, 3]], "must be an array of uint8, got list"),
    ],
)
def test_other_arrays_are_refused_even_at_severity_0(image, sentence):
    for operator in IMAGE_OPERATORS.values():
        with pytest.raises(ValueError, match=sentence):
            operator.apply(image, 0.0, rng())


@pytest.mark.parametrize("severity", [-0.01, 1.01, float("nan")])
def test_severities_outside_0_to_1_are_refused(severity):
    for operator in IMAGE_OPERATORS.values():
        with pytest.raises(ValueError, match=r"severity must be in \[0, 1\]"):
            operator.apply(photograph(), severity, rng())
        with pytest.raises(ValueError, match=r"severity must be in \[0, 1\]"):
            operator.parameter(severity)


@pytest.mark.parametrize("source", [7, np.random.RandomState(7), None])
def test_seeds_and_old_generators_are_refused(source):
    with pytest.raises(TypeError, match="rng must be a numpy"):
        IMAGE_OPERATORS["fog"].apply(photograph(), 0.1, source)
    with pytest.raises(TypeError, match="rng must be a numpy"):
        IMAGE_OPERATORS["shear"].apply_boxes([[0.0, 0.0, 1.0, 1.0]], 0.1, source, (8, 8))


def test_levels_of_imagenet_c_are_severities_that_rise():
    assert set(LEVEL_SEVERITIES) == {
        *("brightness", "contrast", "saturate", "fog", "snow", "frost", "spatter"),
        *("defocus_blur", "gaussian_blur", "motion_blur", "zoom_blur", "elastic_transform"),
        *("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise"),
        *("pixelate", "jpeg_compression"),
    }
    for name in LEVEL_SEVERITIES:
        severities = [IMAGE_OPERATORS[name].level_severity(level) for level in (1, 2, 3, 4, 5)]

        assert severities == sorted(severities)
        assert 0.02 < severities[0] < severities[-1] <= 1.0


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("gaussian_noise", (0.08, 0.12, 0.18, 0.26, 0.38)),
        ("impulse_noise", (0.03, 0.06, 0.09, 0.17, 0.27)),
        ("contrast", (0.6, 0.7, 0.8, 0.9, 0.95)),
        ("jpeg_compression", (50 / 25, 50 / 18, 50 / 15, 50 / 10, 50 / 7)),
    ],
)
def test_measured_levels_agree_with_the_published_settings_where_those_mean_the_same(name, published):
    operator = IMAGE_OPERATORS[name]

    measured = [operator.parameter(operator.level_severity(level)) for level in (1, 2, 3, 4, 5)]

    assert measured == pytest.approx(published, rel=0.05)


def test_levels_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="ImageNet-C has no operator rain"):
        IMAGE_OPERATORS["rain"].level_severity(1)
    with pytest.raises(ValueError, match="level must be 1 to 5, got 6"):
        IMAGE_OPERATORS["fog"].level_severity(6)


def test_perturb_image_applies_each_operator_after_the_one_before_it():
    picture = photograph()
    strategy = {"jpeg_compression": 0.3, "fog": 0.2, "gaussian_blur": 0.1, "rain": 0.0}

    together = perturb_image(picture, strategy, rng_of=rng)

    expected = picture
    for name in ("fog", "gaussian_blur", "jpeg_compression"):
        expected = IMAGE_OPERATORS[name].apply(expected, strategy[name], rng(name))
    assert together.tobytes() == expected.tobytes()


@every_operator
def test_perturb_image_with_one_operator_is_that_operator(name):
    alone = perturb_image(photograph(), {name: 0.4}, rng_of=rng)

    assert alone.tobytes() == IMAGE_OPERATORS[name].apply(photograph(), 0.4, rng(name)).tobytes()


def test_perturb_image_without_an_operator_is_a_copy():
    same = perturb_image(photograph(), {"fog": 0.0}, rng_of=rng)

    assert same.tobytes() == photograph().tobytes()
    assert not np.shares_memory(same, photograph())


def test_geometric_operators_are_one_resampling():
    strategy = {"rotate": 0.5, "shear": 0.3, "elastic_transform": 0.4}

    together = perturb_image(photograph(), strategy, rng_of=rng)

    warp = strategy_warp({**strategy, "fog": 0.9}, rng_of=rng, image_size=(224, 168))
    assert together.tobytes() == warped_image(photograph(), warp).tobytes()


def test_active_severities_are_in_physical_order_whatever_the_order_given():
    assert list(active_severities({"pixelate": 0.1, "rain": 0.0, "fog": 0.2, "shear": 1})) == [
        "shear",
        "fog",
        "pixelate",
    ]


def test_unknown_operators_are_named():
    with pytest.raises(ValueError, match="no image operator is called glass_blur, vignette"):
        perturb_image(photograph(), {"vignette": 0.1, "glass_blur": 0.0, "fog": 0.1}, rng_of=rng)


def test_sizes_below_a_pixel_are_refused():
    with pytest.raises(ValueError, match="at least 1 pixel"):
        check_size((0, 4))
