"""Which severity changes pictures as much as a level of ImageNet-C does: the published map, as measured."""

from collections.abc import Mapping
from types import MappingProxyType

# Name -> the severities of levels 1 to 5 (Hendrycks and Dietterich 2019). A severity is where our operator's
# mean root mean square difference over 16 pictures of 448 x 336 is that of the package imagecorruptions 1.1.2
# at the level: `python benchmarks/perturb.py --levels --pictures 16`; frost over 64, because strong ice
# covers nearly everything, so that its severities hang on small differences. Two levels have one severity
# where the peer's higher level changes pictures no more than its lower one.
LEVEL_SEVERITIES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "brightness": (0.161, 0.309, 0.450, 0.592, 0.708),
        "contrast": (0.625, 0.729, 0.833, 0.938, 0.990),
        "saturate": (0.246, 0.294, 0.294, 0.444, 0.923),
        "fog": (0.343, 0.375, 0.416, 0.425, 0.447),
        "snow": (0.251, 0.493, 0.493, 0.658, 0.895),
        "frost": (0.554, 0.673, 0.785, 0.785, 0.785),
        "spatter": (0.058, 0.255, 0.349, 0.596, 0.801),
        "defocus_blur": (0.209, 0.288, 0.472, 0.649, 0.823),
        "gaussian_blur": (0.127, 0.244, 0.364, 0.482, 0.718),
        "motion_blur": (0.166, 0.280, 0.454, 0.694, 0.881),
        "zoom_blur": (0.166, 0.238, 0.272, 0.343, 0.383),
        "elastic_transform": (0.173, 0.225, 0.294, 0.346, 0.414),
        "gaussian_noise": (0.200, 0.300, 0.450, 0.650, 0.950),
        "shot_noise": (0.215, 0.332, 0.477, 0.738, 0.956),
        "impulse_noise": (0.100, 0.200, 0.300, 0.565, 0.899),
        "speckle_noise": (0.231, 0.308, 0.539, 0.693, 0.924),
        "pixelate": (0.091, 0.133, 0.300, 0.469, 0.600),
        "jpeg_compression": (0.500, 0.589, 0.646, 0.792, 0.944),
    }
)
