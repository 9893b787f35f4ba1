"""Sun, sky, fog and rain of a scene, or the lamps of a room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import cast

import numpy as np

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Floats, Texture, unit

EnvironmentValue = float | int | str | bool | None | tuple[float, ...]
NUMBERS_A_LAMP = 7


@dataclass(frozen=True)
class Lamp:
    """A ball that shines in all directions: middle and radius in metres, strength in radiance times m2.

    A surface that faces the lamp at distance ``d`` gets ``strength / d**2``.
    """

    position: Colour
    strength: Colour
    radius: float


@dataclass(frozen=True)
class Atmosphere:
    """Light and weather; colours are linear radiance, directions point to the light.

    Attributes:
        sun_dir, sun, sun_soft: direction, irradiance and angular spread of the sun.
        zenith, horizon, ground: sky colours.
        cloud, cloud_col: cover in [0, 1] and colour.
        fog, fog_col: extinction per metre and colour.
        rain: streak density in [0, 1].
        exposure: factor before tone mapping.
        ambient: irradiance of light that bounced more than once.
        indoor: there is no sun, and a ray that leaves the room sees the ambient light.
        lamps: seven numbers a lamp: x, y, z, red, green, blue, radius.
    """

    sun_dir: Colour = (0.4, -0.5, 0.75)
    sun: Colour = (2.6, 2.45, 2.2)
    sun_soft: float = 0.03
    zenith: Colour = (0.25, 0.45, 0.85)
    horizon: Colour = (0.75, 0.85, 0.95)
    ground: Colour = (0.3, 0.29, 0.27)
    cloud: float = 0.3
    cloud_col: Colour = (1.0, 1.0, 1.0)
    fog: float = 0.0
    fog_col: Colour = (0.75, 0.78, 0.8)
    rain: float = 0.0
    exposure: float = 1.0
    ambient: Colour = (0.3, 0.3, 0.3)
    cloud_seed: int = 0
    indoor: bool = False
    lamps: tuple[float, ...] = ()

    @staticmethod
    def of(environment: Mapping[str, EnvironmentValue]) -> "Atmosphere":
        """Read a scene's environment; names that are not light or weather numbers are left to others."""
        known = {field.name for field in fields(Atmosphere)}
        values: dict[str, object] = {}
        for name, value in environment.items():
            if name in known:
                values[name] = (
                    tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
                )
        return Atmosphere(**values)  # type: ignore[arg-type]  # read from a description of known shape

    @property
    def to_sun(self) -> Floats:
        """Unit direction to the sun, ``(3,)``."""
        direction = np.array(self.sun_dir, np.float64)
        return cast(Floats, (direction / np.sqrt((direction**2).sum())).astype(np.float32))

    @property
    def has_sun(self) -> bool:
        """Whether the sun gives any light."""
        return max(self.sun) > 0 and not self.indoor

    def lamp_table(self) -> tuple[Lamp, ...]:
        """Return the lamps of a room; none outdoors."""
        rows = [self.lamps[at : at + NUMBERS_A_LAMP] for at in range(0, len(self.lamps), NUMBERS_A_LAMP)]
        return tuple(
            Lamp((row[0], row[1], row[2]), (row[3], row[4], row[5]), row[6])
            for row in rows
            if len(row) == NUMBERS_A_LAMP
        )

    def _cloud_texture(self) -> Texture:
        return textures.clouds(self.cloud_seed % 4)

    def sky(self, directions: Floats, *, with_clouds: bool = True) -> Floats:
        """Return the radiance ``(n, 3)`` of the sky in unit directions ``(n, 3)``."""
        if self.indoor:
            return np.repeat(np.array([self.ambient], np.float32), len(directions), 0)
        up = directions[:, 2]
        t = np.sqrt(np.clip(up, 0, 1))[:, None]
        horizon = np.array(self.horizon, np.float32)
        colour = horizon + (np.array(self.zenith, np.float32) - horizon) * t
        if self.cloud > 0:
            cover = np.array(self.cloud_col, np.float32)
            if with_clouds:
                stretch = np.float32(0.22) / (np.maximum(up, 0.02) + np.float32(0.15))
                uv = directions[:, :2] * stretch[:, None]
                density = self._cloud_texture().sample(uv, np.zeros(len(uv), np.float32))[:, 0]
                share = np.clip((density - (1 - self.cloud) * 0.75) * 4, 0, 1) * np.clip(up * 8, 0, 1)
                shade = 0.75 + 0.35 * density
                colour += (cover * shade[:, None] - colour) * share[:, None]
            else:
                share = np.float32(min(1.0, self.cloud * 0.9)) * np.clip(up * 8, 0, 1)
                colour += (cover * np.float32(0.93) - colour) * share[:, None]
        below = np.clip(up * -12, 0, 1)[:, None]
        colour += (np.array(self.ground, np.float32) - colour) * below
        return colour.astype(np.float32, copy=False)

    def sun_directions(self, count: int, rng: np.random.Generator) -> Floats:
        """Return ``(count, 3)`` unit directions over the sun's disc."""
        spread = rng.standard_normal((count, 3), dtype=np.float32) * np.float32(self.sun_soft)
        return unit(self.to_sun + spread)
