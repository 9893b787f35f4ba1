"""What tests of the pages of modality results share."""

import re

from django.test import Client

from searches.models import Campaign
from tests.factories import make_sut
from tests.searches.modality_factory import Ending, make_grid, make_modality_campaign, make_seed_dataset


def html(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def tables_of(page: str, section: str) -> str:
    return page.split(f'id="{section}"')[1].split("</section>")[0]


def campaign_of(
    ended, *, pictures: int = 4, sut: str = "one", regimes=("image", "text", "joint")
) -> Campaign:
    campaign = make_modality_campaign(make_seed_dataset(pictures, strata=("street",)), name="Street seeds")
    make_grid(campaign, suts=[make_sut(sut, name=f"System {sut}")], ended=ended, regimes=regimes)
    return campaign


def breaks_by_image(place):
    """Image breaks all, text none, joint all but the first."""
    broken = place.regime == "image" or (place.regime == "joint" and place.number > 0)
    return Ending(iou=0.1, severities={"fog": 0.3}, first_hit=3) if broken else Ending()
