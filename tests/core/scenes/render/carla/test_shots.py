"""Raw bytes of the server's cameras become colours, tags and ids."""

import numpy as np
import pytest

from vlmlab.core.scenes.render.carla.shots import camera_points, decode_colours, decode_instances

RAW = bytes([1, 2, 3, 255, 156, 65, 14, 255])  # two pixels: blue, green, red, alpha


def test_colours_come_as_blue_green_red():
    assert decode_colours(RAW, width=2, height=1).tolist() == [[[3, 2, 1], [14, 65, 156]]]


def test_red_is_the_tag_and_green_and_blue_are_the_low_and_high_byte_of_the_id():
    tags, ids = decode_instances(RAW, width=2, height=1)

    assert tags.tolist() == [[3, 14]]
    assert ids.tolist() == [[2 + 1 * 256, 40_001]]  # 65 + 156 * 256


def test_picture_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"^raw: expected 12 bytes of 3x1 pixels, got 8$"):
        decode_colours(RAW, width=3, height=1)


def test_points_are_moved_into_the_cameras_frame():
    # A camera at (10, 0, 2) that looks along +y: a point 5 m along y and 1 m along x is 1 m to its left.
    to_camera = np.array([[0, 1, 0, 0], [-1, 0, 0, 10], [0, 0, 1, -2], [0, 0, 0, 1]], float)

    assert camera_points(np.array([[11.0, 5.0, 2.5]]), to_camera).tolist() == [[5.0, -1.0, 0.5]]
