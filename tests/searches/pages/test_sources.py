"""Pages of picture sources: set up, changed while no run rests on them, checked, listed with few queries."""

import pytest

from searches.models import AuditEntry, PictureSource
from searches.services.keys import create_key
from searches.services.sources import FROZEN
from tests.factories import make_campaign, make_run, make_sut
from tests.searches.pools import make_pool, make_source
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db
API = "/sources/new/?kind=image_api"


@pytest.fixture
def researcher():
    return browser_of(Role.RESEARCHER)


def test_the_list_names_the_renderer_and_says_what_to_do_when_nothing_is_set_up(researcher):
    page = researcher.get("/sources/").content.decode()

    assert "Embedded renderer" in page
    assert "No source yet" in page
    assert 'href="/sources/new/"' in page


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_sources(
    researcher, django_assert_max_num_queries, rows
):
    for number in range(rows):
        make_source(f"pool-{number}")
    researcher.get("/sources/")

    with django_assert_max_num_queries(9):
        page = researcher.get("/sources/").content.decode()

    assert page.count('class="primary-link" href="/sources/pool-') == rows


def test_setting_up_begins_with_the_kinds_and_what_each_needs(researcher):
    page = researcher.get("/sources/new/").content.decode()

    assert [kind for kind in ("image_pool", "image_api", "carla") if f"?kind={kind}" not in page] == []
    assert "kind=embedded" not in page
    assert "?kind=image_api&amp;preset=gemini_flash_image" in page


def test_a_pool_of_photographs_is_set_up_and_audited(researcher):
    dataset = make_pool()

    answer = researcher.post(
        "/sources/new/?kind=image_pool",
        {"name": "Street photographs", "dataset": dataset.pk, "match": "exact", "fit": "cover"},
    )

    source = PictureSource.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, "/sources/street-photographs/")
    assert (source.kind, source.dataset, source.params) == (
        "image_pool",
        dataset,
        {"match": "exact", "fit": "cover"},
    )
    assert AuditEntry.objects.filter(object_type="picturesource").get().verb == "configured"


def test_what_is_wrong_stands_at_its_field(researcher):
    make_source("taken")

    answer = researcher.post("/sources/new/?kind=image_pool", {"name": "", "slug": "taken", "match": "some"})

    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert set(errors) >= {"name", "dataset", "match"}
    assert "dataset" in answer.content.decode()


def test_a_preset_fills_the_form_of_an_image_model(researcher):
    form = researcher.get(f"{API}&preset=gemini_flash_image").context["form"]

    assert (form["name"].value(), form["provider"].value()) == ("Gemini 3.1 Flash Image", "gemini")


def test_a_key_may_only_be_used_for_its_own_server(researcher):
    key = create_key(name="Google", kind="gemini", secret="sk-0123456789", by=None)
    values = {"name": "Model", "provider": "openai", "model": "m", "api_key": key.pk}
    values |= {"base_url": "https://example.org/v1", "max_attempts": "1"}

    refused = researcher.post(API, values)
    taken = researcher.post(API, values | {"provider": "gemini"})

    assert "is only for https://generativelanguage.googleapis.com" in str(
        refused.context["form"].errors["api_key"]
    )
    assert taken.status_code == 302
    assert PictureSource.objects.get().api_key == key
    assert "sk-0123456789" not in researcher.get("/sources/model/").content.decode()


def test_a_source_that_runs_rest_on_keeps_its_settings_and_offers_a_copy(researcher):
    source = make_source("photos")
    make_run(campaign=make_campaign(config={"backend": "photos"}))
    before = source.params

    page = researcher.get("/sources/photos/edit/").content.decode()
    answer = researcher.post(
        "/sources/photos/edit/",
        {"name": "Renamed", "dataset": make_pool("other").pk, "match": "exact", "fit": "cover"},
    )

    source.refresh_from_db()
    assert FROZEN in page
    assert 'href="/sources/new/?copy=photos"' in page
    assert answer.status_code == 302
    assert (source.name, source.params, source.dataset.slug) == ("Renamed", before, "photos-pool")


def test_a_source_without_runs_can_be_changed(researcher):
    make_source("photos")

    researcher.post(
        "/sources/photos/edit/",
        {"name": "Photos", "dataset": make_pool("other").pk, "match": "exact", "fit": "contain"},
    )

    source = PictureSource.objects.get(slug="photos")
    assert (source.params["match"], source.dataset.slug) == ("exact", "other")


def test_a_change_of_somebody_else_is_not_overwritten_unseen(researcher):
    source = make_source("photos")
    seen = researcher.get("/sources/photos/edit/").context["seen"]
    PictureSource.objects.filter(pk=source.pk).update(name="Meanwhile")

    answer = researcher.post(
        "/sources/photos/edit/",
        {"name": "Mine", "dataset": source.dataset_id, "match": "contains", "fit": "contain", "seen": seen},
    )

    assert answer.status_code == 422
    assert "was changed by somebody else" in answer.content.decode()


def test_a_copy_starts_from_the_settings_of_the_first(researcher):
    make_source("photos", params={"match": "exact", "fit": "cover"})

    form = researcher.get("/sources/new/?copy=photos").context["form"]

    assert (form["match"].value(), form["name"].value()) == ("exact", "Photos (copy)")
    assert form["dataset"].value() == str(PictureSource.objects.get().dataset_id)


def test_the_page_of_a_pool_says_what_its_pictures_show_and_what_none_shows(researcher):
    make_source("photos")

    page = researcher.get("/sources/photos/").content.decode()

    assert "Searches must leave them out." in page
    assert "have a picture" in page
    assert "are tagged with concepts of the domain “driving”" in page  # beside the indoor domain


def test_a_check_says_what_no_picture_shows_and_stays_on_the_page(researcher):
    make_source("photos")

    page = researcher.post("/sources/photos/check/", follow=True).content.decode()

    assert "Everything that it needs is there. It has no picture of" in page
    entry = AuditEntry.objects.get(verb="checked")
    assert entry.after["found"].startswith("Everything that it needs is there.")


def test_a_check_that_finds_a_fault_says_it(researcher):
    source = make_source("photos")
    source.dataset.pictures.all().delete()

    page = researcher.post("/sources/photos/check/", follow=True).content.decode()

    assert "has no pictures" in page


def test_switching_off_takes_a_source_out_of_the_form_of_searches(researcher):
    make_source("photos")

    researcher.post("/sources/photos/toggle/")

    choices = dict(researcher.get("/runs/new/").context["form"].fields["backend"].choices)
    assert choices == {"embedded": "Embedded renderer"}
    assert not PictureSource.objects.get().is_enabled


def test_a_search_takes_a_source_and_its_command_names_it(researcher):
    make_source("photos")
    sut = make_sut()
    form = researcher.get("/runs/new/").context["form"]
    values = {name: value for name, value in form.initial.items() if value not in (None, False)}
    asked = values | {"suts": [sut.pk], "backend": "photos", "domain": "driving", "name": ""}

    refused = researcher.post("/runs/new/", asked)
    estimate = researcher.get("/runs/estimate/", asked)

    assert "has no picture of" in str(refused.context["form"].errors["excluded_concepts"])
    assert "--domain driving --backend photos --algorithm" in estimate.content.decode()


def test_a_source_that_cannot_draw_the_domain_is_refused_at_its_field(researcher):
    make_source("photos")
    form = researcher.get("/runs/new/").context["form"]
    values = {name: value for name, value in form.initial.items() if value not in (None, False)}

    answer = researcher.post(
        "/runs/new/", values | {"suts": [make_sut().pk], "backend": "photos", "domain": "indoor"}
    )

    assert "are tagged with concepts" in str(answer.context["form"].errors["backend"])


def test_a_search_with_a_source_begins_with_its_domain_and_without_what_it_cannot_show(researcher):
    make_source("photos")

    form = researcher.get("/runs/new/?source=photos").context["form"]

    left_out = set(form.initial["excluded_concepts"])
    every = {one[0] for one in form.fields["excluded_concepts"].choices}
    assert (form.initial["backend"], form.initial["domain"]) == ("photos", "driving")
    assert left_out & {"cone", "cyclist"} == set()
    assert {"pedestrian", "weather_foggy"} <= left_out <= every
    assert form.initial["max_set_size"] == 2  # cone, cyclist, and both together


def test_an_uploaded_dataset_is_chosen_for_a_new_source(researcher):
    dataset = make_pool("streets")

    form = researcher.get("/sources/new/?kind=image_pool&dataset=streets").context["form"]

    assert (form["dataset"].value(), form["name"].value()) == (str(dataset.pk), "Streets")


def test_an_uploaded_dataset_leads_to_a_source_and_offers_no_choice_that_it_does_not_have(researcher):
    make_pool("streets")

    page = researcher.get("/datasets/streets/").content.decode()

    assert 'href="/sources/new/?kind=image_pool&amp;dataset=streets"' in page
    assert 'href="/domains/driving/">Driving</a>' in page
    assert 'id="f-stratum"' not in page


@pytest.mark.parametrize(
    "address",
    [
        "/sources/new/?copy=%00",
        "/sources/new/?kind=%00",
        "/sources/new/?kind=image_pool&dataset=%00",
        "/sources/new/?kind=image_api&preset=%00",
        "/datasets/upload/?done=%00",
        "/runs/new/?source=%00",
    ],
)
def test_addresses_with_what_no_column_holds_are_shown_as_if_nothing_was_asked(researcher, address):
    assert researcher.get(address).status_code == 200


def test_settings_say_yes_or_no_and_a_port_is_no_amount(researcher):
    make_source("server", kind="carla", params={"port": 2000})
    make_source("model", kind="image_api", params={"provider": "gemini", "model": "m"})

    server = researcher.get("/sources/server/").content.decode()
    model = researcher.get("/sources/model/").content.decode()

    assert ">2000<" in server
    assert "2,000" not in server
    assert ">False<" not in model
    assert ">no<" in model
