"""The edge-keeping filter, compared with a slow, obvious version."""

import numpy as np

from vlmlab.core.scenes.render.filters import Guides, blur, smooth


def flat_guides(height, width):
    normals = np.zeros((height, width, 3), np.float32)
    normals[..., 2] = 1
    return Guides(normals, np.full((height, width), 5, np.float32))


def slow_smooth(image, guides, *, step):
    """Weigh every neighbour of every pixel one by one."""
    height, width = image.shape[:2]
    out = np.zeros_like(image)
    for y in range(height):
        for x in range(width):
            total, weights = np.zeros(3), 0.0
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    v, u = y + dy * step, x + dx * step
                    if not (0 <= v < height and 0 <= u < width):
                        continue
                    base = (2 if dx == 0 else 1) * (2 if dy == 0 else 1)
                    cosine = max(0.0, float(guides.normals[y, x] @ guides.normals[v, u])) ** 8
                    near, far = sorted((guides.depth[y, x], guides.depth[v, u]))
                    weight = base * cosine * np.exp(-(far - near) / (0.02 * step * near + 1e-3))
                    total += weight * image[v, u]
                    weights += weight
            out[y, x] = total / weights
    return out


def test_smooth_equals_the_slow_version():
    rng = np.random.Generator(np.random.PCG64(0))
    image = rng.random((7, 9, 3)).astype(np.float32)
    normals = rng.normal(size=(7, 9, 3)) * 0.2 + np.array([0, 0, 1])
    normals = (normals / np.linalg.norm(normals, axis=-1, keepdims=True)).astype(np.float32)
    guides = Guides(normals, rng.uniform(4.9, 5.1, (7, 9)).astype(np.float32))

    for step in (1, 2):
        fast = smooth([image], guides, step=step, stops=[0.0])[0]
        np.testing.assert_allclose(fast, slow_smooth(image, guides, step=step), atol=1e-5)


def test_smooth_does_not_mix_across_a_step_in_depth():
    image = np.zeros((6, 6, 3), np.float32)
    image[:, 3:] = 1
    guides = flat_guides(6, 6)
    guides.depth[:, 3:] = 20

    np.testing.assert_allclose(smooth([image], guides, step=1, stops=[0.0])[0], image, atol=1e-6)


def test_smooth_leaves_an_even_picture_alone():
    image = np.full((5, 8, 3), 0.3, np.float32)

    np.testing.assert_allclose(smooth([image], flat_guides(5, 8), step=2, stops=[0.4])[0], image, atol=1e-6)


def test_blur_keeps_the_sum_of_a_spot_and_spreads_it_evenly():
    image = np.zeros((41, 41, 3), np.float32)
    image[20, 20] = 1

    spread = blur(image, 2)

    np.testing.assert_allclose(spread.sum((0, 1)), 1, atol=1e-4)
    np.testing.assert_allclose(spread, spread[::-1, ::-1], atol=1e-7)
