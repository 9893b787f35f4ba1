"""Small foreign datasets of every format with the format's quirks, and what an import must make of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.core.seed_images.sources import coco, photograph, thing, voc

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Foreign:
    """Files of one format.

    Attributes:
        files: path -> content.
        truth: what must be stored: picture -> its things, label and box.
        refused: scope, kind and row of what must be refused, sorted.
        unsure: picture -> labels that must not be asked for.
        strata: kind of scene of the pictures in their order.
        settings: fields of the form beside the archive.
    """

    files: Mapping[str, bytes]
    truth: Mapping[str, list[tuple[str, Box]]]
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    unsure: Mapping[str, list[str]] = field(default_factory=dict)
    strata: tuple[str, ...] = ("all",)
    settings: Mapping[str, str] = field(default_factory=dict)


SQUARE = {"width": 80, "height": 60}
COCO = Foreign(
    files={
        "images/val2017/000000000139.jpg": photograph(20, form="JPEG"),
        "images/val2017/000000000285.jpg": photograph(30, form="JPEG"),
        "annotations/instances_val2017.json": coco(
            [  # ids with gaps and out of order
                {"id": 285, "file_name": "000000000285.jpg", **SQUARE},
                {"id": 139, "file_name": "000000000139.jpg", **SQUARE},
            ],
            [
                {"id": 7, "image_id": 139, "category_id": 90, "bbox": [10, 10, 20.5, 20], "iscrowd": 0},
                {
                    "id": 9,
                    "image_id": 139,
                    "category_id": 1,
                    "iscrowd": 1,
                    "bbox": [0, 0, 40, 40],
                    "segmentation": {"size": [60, 80], "counts": [0, 60, 4740]},
                },
                {
                    "id": 11,
                    "image_id": 285,
                    "category_id": 1,
                    "bbox": [4, 4, 10, 10],
                    "segmentation": [[4, 4, 14, 4, 14, 14, 4, 14]],
                },
            ],
            [{"id": 1, "name": "person"}, {"id": 90, "name": "toothbrush", "supercategory": "indoor"}],
        ),
    },
    truth={
        "images/val2017/000000000285.jpg": [("person", (4, 4, 14, 14))],
        "images/val2017/000000000139.jpg": [("toothbrush", (10, 10, 30.5, 30))],
    },
    refused=[("thing", "crowd", "annotations 2")],
    unsure={"images/val2017/000000000139.jpg": ["person"]},
    strata=("all", "all"),
)
VOC = Foreign(
    files={
        "VOC2007/JPEGImages/000005.jpg": photograph(20, form="JPEG"),
        "VOC2007/Annotations/000005.xml": voc(
            "000005.jpg",
            thing("diningtable", (1, 1, 80, 60))
            + thing("chair", (5, 5, 20, 20), more="<difficult>1</difficult><truncated>1</truncated>"),
        ),
    },
    truth={"VOC2007/JPEGImages/000005.jpg": [("dining table", (0, 0, 80, 60)), ("chair", (4, 4, 20, 20))]},
    unsure={"VOC2007/JPEGImages/000005.jpg": ["chair"]},
)
YOLO = Foreign(
    files={
        "indoor/images/a.png": photograph(20),
        "indoor/labels/a.txt": b"0 0.5 0.5 1.0000001 1\n1 0.1 0.1 0.3 0.1 0.3 0.3 0.1 0.3\n"
        b"5 0.5 0.5 0.1 0.1\n",
        "data.yaml": "names: [кот, traffic_light]".encode(),
    },
    truth={"indoor/images/a.png": [("кот", (0, 0, 80, 60)), ("traffic light", (8, 6, 24, 18))]},
    refused=[("thing", "class_name", "line 3")],
    strata=("indoor",),
    settings={"strata_by_folder": "on"},
)
ILSVRC = Foreign(
    files={
        "Data/DET/val/ILSVRC2012_val_00000001.JPEG": photograph(20, form="JPEG"),
        "Annotations/DET/val/ILSVRC2012_val_00000001.xml": voc(
            "ILSVRC2012_val_00000001", thing("n02084071", (10, 10, 40, 40)) + thing("n99999999", (1, 1, 9, 9))
        ),
    },
    truth={"Data/DET/val/ILSVRC2012_val_00000001.JPEG": [("dog", (10, 10, 41, 41))]},
    refused=[("thing", "class_name", "object 2")],
)
CROWDAI = Foreign(
    files={
        "object-detection-crowdai/labels.csv": b"xmin,xmax,ymin,ymax,Frame,Label,Preview URL\n"
        b"10,10,40,40,1479498371963069978.jpg,Car,http://crowdai.com/1\n"
        b"50,0,70,20,1479498371963069978.jpg,Pedestrian,http://crowdai.com/2\n",
        "object-detection-crowdai/1479498371963069978.jpg": photograph(20, form="JPEG"),
    },
    truth={
        "object-detection-crowdai/1479498371963069978.jpg": [
            ("Car", (10, 10, 40, 40)),
            ("Pedestrian", (50, 0, 70, 20)),
        ]
    },
    strata=("street",),
    settings={"stratum": "street"},
)
AUTTI = Foreign(
    files={
        "object-dataset/labels.csv": b'1478019952686311006.jpg 10 10 40 40 0 "car"\n'
        b'1478019952686311006.jpg 50 5 60 30 1 "trafficLight" "Red"\n',
        "object-dataset/1478019952686311006.jpg": photograph(20, form="JPEG"),
    },
    truth={
        "object-dataset/1478019952686311006.jpg": [
            ("car", (10, 10, 40, 40)),
            ("traffic light", (50, 5, 60, 30)),
        ]
    },
)
TABLE = Foreign(
    files={
        "boxes.csv": '\ufefffile;label;x_min;y_min;x_max;y_max;stratum\none.png;"a ""small"" cup";1;2;30;40;'
        "küche\none.png;cup;90;2;99;40;küche\n".encode(),
        "one.png": photograph(20),
    },
    truth={"one.png": [('a "small" cup', (1, 2, 30, 40))]},
    refused=[("thing", "outside", "row 3")],
    unsure={"one.png": ["cup"]},
    strata=("küche",),
)
FOREIGN = {
    "coco": COCO, "voc": VOC, "yolo": YOLO, "ilsvrc": ILSVRC, "udacity crowdai": CROWDAI,
    "udacity autti": AUTTI, "table": TABLE,
}  # fmt: skip
