"""The names that replies give to boxes, labels, coordinates and points; one table each."""

import re

_NOT_LETTERS = re.compile(r"[\s_\-.]+")


def folded(key: str) -> str:
    """Return a key in lower case without blanks, underscores, hyphens and dots."""
    return _NOT_LETTERS.sub("", key).casefold()


BOX_KEYS = frozenset(
    """
    bbox2d bbox box2d box boundingbox boundingbox2d bbox2ds bboxes bboxes2d boxes boxes2d boundingboxes
    boundingboxes2d bboxcoordinates boxcoordinates boundingboxcoordinates bboxcoords boxcoords coordinates
    coordinate coords location position region xyxy bboxxyxy boxxyxy yxyx bboxyxyx boxyxyx startbox bb aabb
    """.split()
)
ORDER_IN_KEY = {"xyxy": "xyxy", "bboxxyxy": "xyxy", "boxxyxy": "xyxy"} | {
    "yxyx": "yxyx",
    "bboxyxyx": "yxyx",
    "boxyxyx": "yxyx",
}
MAYBE_POINT_KEYS = frozenset("coordinates coordinate coords location position".split())
OTHER_FORM_KEYS = frozenset(
    """
    xywh bboxxywh boxxywh cxcywh bboxcxcywh boxcxcywh ltwh bboxltwh rect rectangle quad quadrilateral
    rotatedbox rotatedbbox obb rbox bboxnormalizedxywh xywhr bbox3d box3d boundingbox3d
    """.split()
)
POINT_KEYS = frozenset(
    """
    point2d point points points2d keypoint keypoints click clickpoint center centre centerpoint centroid
    polygon polygons segmentation contour outline vertices landmarks
    """.split()
)
LABEL_KEYS = (
    *("label", "objectname", "classname", "name", "category", "categoryname", "class", "object", "ref"),
    *("phrase", "text", "textcontent", "description", "caption", "element", "target", "title", "item"),
)
LABEL_LIST_KEYS = frozenset("labels names classes categories phrases bboxeslabels objectnames".split())
WRAPPER_KEYS = frozenset(
    """
    detections detection objects object results result output outputs answer answers response data items
    item predictions prediction annotations annotation locate targets target found instances entities
    elements regions final finalanswer json list value values content message thought image images
    detectedobjects locations od arguments parameters args input action shapes
    """.split()
)
ATTRIBUTE_KEYS = frozenset(
    """
    color colour rgb rgba size shape dimensions imagesize resolution score scores confidence confidences mask
    id ids index probabilities logits embedding
    """.split()
)
CORNER_NAMES = (
    ("x1", "y1", "x2", "y2"),
    ("x0", "y0", "x1", "y1"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("minx", "miny", "maxx", "maxy"),
    ("left", "top", "right", "bottom"),
    ("xtl", "ytl", "xbr", "ybr"),
    ("xleft", "ytop", "xright", "ybottom"),
    ("xstart", "ystart", "xend", "yend"),
    ("startx", "starty", "endx", "endy"),
)
SIZE_NAMES = tuple(
    (*corner, *size)
    for corner in (("left", "top"), ("xmin", "ymin"), ("xleft", "ytop"))
    for size in (("width", "height"), ("w", "h"))
)
CORNER_POINT_NAMES = (("topleft", "bottomright"), ("lefttop", "rightbottom"), ("upperleft", "lowerright"))
COORDINATE_NAMES = frozenset(
    name for names in (*CORNER_NAMES, *SIZE_NAMES, *CORNER_POINT_NAMES) for name in names
) | frozenset("x y x3 y3 x4 y4 cx cy xc yc xcenter ycenter centerx centery width height w h".split())
