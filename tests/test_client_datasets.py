"""The client's part for datasets: make, wait, read, download."""

import io
import json
import zipfile

import httpx2
import pytest

from vlmlab.client import Lab, LabTimeout

MADE = {
    "slug": "streets", "title": "Streets", "origin": "scenes", "state": "making", "n_pictures": 0,
    "recipe": {}, "licence": "CC0", "credits": "Ada", "error": "", "page": "/datasets/streets/",
}  # fmt: skip


def lab_of(*answers):
    script, requests = list(answers), []

    def answer(request):
        requests.append(request)
        content = script.pop(0) if len(script) > 1 else script[0]
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return httpx2.Response(200, content=body)

    lab = Lab("http://lab", "vlm_x", transport=httpx2.MockTransport(answer), sleep=lambda s: None)
    return lab, requests


def test_a_dataset_is_asked_for_with_its_settings_and_waited_for():
    lab, requests = lab_of(MADE, MADE, MADE | {"state": "ready", "n_pictures": 2, "recipe": {"digest": "ab"}})

    made = lab.make_dataset("Streets", n=2, seed=4, strata=["street"], size=(320, 240), slug="streets")
    ready = lab.wait_for_dataset(made)

    assert json.loads(requests[0].content) == {
        "title": "Streets",
        "n": 2,
        "seed": 4,
        "strata": ["street"],
        "width": 320,
        "height": 240,
        "backend": "embedded",
        "slug": "streets",
        "description": "",
    }
    assert [str(one.url) for one in requests[1:]] == ["http://lab/api/v1/datasets/streets"] * 2
    assert (made.state, ready.state, ready.n_pictures, ready.recipe["digest"]) == ("making", "ready", 2, "ab")


def test_waiting_for_a_dataset_ends_in_time():
    lab, _ = lab_of(MADE)

    with pytest.raises(LabTimeout, match="The dataset did not end within 0 s"):
        lab.wait_for_dataset("streets", timeout=0)


def test_datasets_and_their_pictures_are_read_page_by_page():
    lab, requests = lab_of(
        {"items": [MADE], "next": None},
        {"items": [{"order": 0}], "next": "/api/v1/datasets/streets/pictures?cursor=0"},
        {"items": [{"order": 1}], "next": None},
    )

    [dataset] = lab.datasets()
    pictures = list(lab.dataset_pictures(dataset))

    assert [one["order"] for one in pictures] == [0, 1]
    assert requests[1].url.path == "/api/v1/datasets/streets/pictures"


def test_a_dataset_is_saved_whole(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("README.txt", "hello")
    lab, requests = lab_of(content.getvalue())

    path = lab.download_dataset("streets", tmp_path / "streets.zip")

    assert zipfile.ZipFile(path).read("README.txt") == b"hello"
    assert requests[0].url.path == "/api/v1/datasets/streets/export.zip"
