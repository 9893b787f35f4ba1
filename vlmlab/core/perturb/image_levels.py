"""Which severity changes pictures as much as a level of ImageNet-C does: the published map, as measured."""

from collections.abc import Mapping
from types import MappingProxyType

# name -> the severities of levels 1 to 5.
LEVEL_SEVERITIES: Mapping[str, tuple[float, ...]] = MappingProxyType({})
