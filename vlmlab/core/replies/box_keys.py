"""The names that replies give to boxes, labels, coordinates and points; one table each."""

import re

_NOT_LETTERS = re.compile(r"[\s_\-.]+")


def folded(key: str) -> str:
    """Return a key in lower case without blanks, underscores, hyphens and dots."""
    return _NOT_LETTERS.sub("", key).casefold()


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


BOX_KEYS = _names(
    """
    bbox2d bbox box2d box boundingbox boundingbox2d bbox2ds bboxes bboxes2d boxes boxes2d
    boundingboxes boundingboxes2d bboxcoordinates boxcoordinates boundingboxcoordinates bboxcoords
    boxcoords startbox xyxy bboxxyxy boxxyxy yxyx bboxyxyx boxyxyx bb aabb bboxlist boxlist
    """
)
VAGUE_KEYS = _names("coordinates coordinate coords location position region area")
"""Names of a box where four numbers stand under them, of a point where two do, else of anything."""
OTHER_FORM_KEYS = _names(
    """
    xywh bboxxywh boxxywh cxcywh bboxcxcywh boxcxcywh ltwh bboxltwh rect quad quadrilateral rotatedbox
    rotatedbbox obb rbox bboxnormalizedxywh xywhr bbox3d box3d boundingbox3d
    """
)
POINT_KEYS = _names(
    """
    point2d point points points2d keypoint keypoints click clickpoint center centre centerpoint
    centroid polygon polygons segmentation contour outline vertices landmarks
    """
)
LABEL_KEYS = (
    *("label", "objectname", "classname", "name", "category", "categoryname", "class", "object", "ref"),
    *("phrase", "text", "textcontent", "description", "caption", "element", "target", "title", "item"),
)
LABEL_LIST_KEYS = _names("labels names classes categories phrases bboxeslabels objectnames")
WRAPPER_KEYS = _names(
    """
    detections detection objects object results result output outputs answer answers response data
    items item predictions prediction annotations annotation locate targets target found instances
    entities elements regions final finalanswer json list value values content message thought image
    images detectedobjects locations od arguments parameters args input action shapes
    """
)
ARGUMENT_KEYS = _names("arguments parameters args input")
"""Wrappers whose neighbour "name" is that of a tool, not of a thing."""
ATTRIBUTE_KEYS = _names(
    """
    color colour rgb rgba size shape dimensions imagesize resolution score scores confidence
    confidences mask id ids index probabilities logits embedding
    """
)
SKIPPED_KEYS = OTHER_FORM_KEYS | ATTRIBUTE_KEYS
FORMAT_KEYS = _names(
    """
    format bboxformat boxformat bboxmode boxmode coordinateformat coordinatesformat coordformat mode
    """
)
PRESENCE_KEYS = _names("found present exists exist ispresent isfound detected isdetected inimage")
"""Keys that say whether the thing is there at all."""
NUMBERED = re.compile(
    r"(?:bbox|box|boundingbox|object|item|detection|target|instance|result|region|answer)?[0-9]*"
)
OTHER_QUANTITY = re.compile(
    r"xywh|cxcy|ltwh|wh$|width|height|size|rgb|score|confidence|normali[sz]ed|pixels?|center|centre|dimension"
    r"|offset|polygon|quad"
)
"""Parts of names whose four numbers are no box in the declared convention, or may be none."""
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
) | _names(
    """
    x y x3 y3 x4 y4 cx cy xc yc xcenter ycenter centerx centery width height w h
    """
)
ITEM_KEYS = BOX_KEYS | VAGUE_KEYS | COORDINATE_NAMES | frozenset(LABEL_KEYS)
"""Keys that begin another item where they repeat in one object."""

_SIZED_FORM = re.compile(
    r"xywh|cxcy|ltwh|tlwh|\bw(?:idth)?\W{1,4}h(?:eight)?\b|\bx_?(?:min|[01])\W{1,4}x_?(?:max|[12])\b",
    re.IGNORECASE,
)
_ORDERED_FORMS = {
    "xyxy": re.compile(
        r"xyxy|\bx_?(?:min|[01])\W{1,4}y_?(?:min|[01])\b|\bleft\W{1,4}(?:top|upper)\W{1,4}right\b",
        re.IGNORECASE,
    ),
    "yxyx": re.compile(
        r"yxyx|\by_?(?:min|[01])\W{1,4}x_?(?:min|[01])\b|\btop\W{1,4}left\W{1,4}bottom\b", re.IGNORECASE
    ),
}


def names_other_form(words: str, order: str) -> bool:
    """Whether words or a key say that four numbers are not the two corners in the declared order.

    Saying so never changes how numbers are read; it makes them unreadable instead of wrong.
    """
    other = "yxyx" if order == "xyxy" else "xyxy"
    if _SIZED_FORM.search(words):
        return True
    return bool(_ORDERED_FORMS[other].search(words)) and not _ORDERED_FORMS[order].search(words)
