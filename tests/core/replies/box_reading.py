"""What tests of the box reader share: a picture of 1000 x 1000 pixels, two boxes, and a short way to read."""

from vlmlab.core.replies.boxes import parse_boxes

BOX = (100.0, 200.0, 300.0, 400.0)
OTHER = (110.0, 200.0, 300.0, 400.0)


def read(text, *, order="xyxy", scale=1000, finish_reason="stop"):
    return parse_boxes(
        text,
        convention={"space": "relative", "scale": scale, "order": order},
        image_size=(1000, 1000),
        finish_reason=finish_reason,
    )


def boxes_of(reading):
    return [(item.label, item.box) for item in reading.items]
