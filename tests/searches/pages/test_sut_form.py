"""The form of systems of every kind: choosing, filling, errors at their fields, keys, the exact request."""

import pytest
from django.test import Client

from searches.enums import JobKind
from searches.forms.sut_form import RegisterSutForm
from searches.models import ApiKey, AuditEntry, Job, SutRecord
from searches.services.keys import create_key
from searches.services.sut_choices import preset_groups
from tests.factories import make_sut
from vlmlab.core.suts.kinds import SUT_KINDS, parse_params
from vlmlab.core.suts.presets import SUT_PRESETS
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db
SECRET = "sk-test-0123456789abcdefWXYZ"
OPENAI, GEMINI, ANTHROPIC = (f"/suts/new/?kind={kind}" for kind in ("openai_chat", "gemini", "anthropic"))
WEB_KINDS = [kind.name for kind in SUT_KINDS.values() if kind.is_web_registrable]


def sent(kind: str, base: dict | None = None, **values: str) -> dict[str, str]:
    """Return what a browser sends of the form as it is first shown, with some fields changed."""
    form = RegisterSutForm(kind=kind, base=base)
    shown = {
        bound.name: bound.field.prepare_value(bound.initial) for bound in form if bound.name in form.leaves
    }
    filled = {name: "" if value is None else str(value) for name, value in shown.items()}
    return filled | {"name": "Remote one", "slug": "", "description": "", "model": "m-1"} | values


def registered(path: str, values: dict[str, str]) -> SutRecord:
    answer = browser_of(Role.RESEARCHER).post(path, values)
    assert answer.status_code == 302, dict(answer.context["form"].errors)
    return SutRecord.objects.get()


def test_registering_begins_with_a_choice_of_presets_and_kinds():
    page = browser_of(Role.RESEARCHER).get("/suts/new/").content.decode()

    assert [name for name in SUT_PRESETS if f'href="?preset={name}"' not in page] == []
    assert [name for name in WEB_KINDS if f'href="?kind={name}"' not in page] == []
    assert "kind=scripted" not in page


def test_the_choice_is_short_kinds_come_first_and_each_family_is_folded():
    page = browser_of(Role.RESEARCHER).get("/suts/new/").content.decode()

    families = [group.family for group in preset_groups()]
    assert [family for family in families if f"<summary><h3>{family}</h3>" not in page] == []
    assert page.count('<details class="family">') == len(families)
    assert page.index('href="?kind=') < page.index('href="?preset=')


def test_what_holds_for_a_whole_family_of_presets_is_said_once():
    groups = {group.family: group for group in preset_groups()}

    served = groups["Any model on a server"]
    assert served.note == served.offers[0].preset.note
    assert {offer.note for offer in served.offers} == {""}
    assert groups["Open weights on this machine"].note.startswith("Enter a commit")
    assert groups["Open weights on this machine"].offers[0].note == "Boxes are 0-1000."
    alone = groups["OpenAI"]
    assert (alone.note, alone.offers[0].note) == ("", alone.offers[0].preset.note)


def test_a_spending_limit_needs_both_prices():
    page = browser_of(Role.RESEARCHER).post(
        OPENAI, sent("openai_chat", model="m", input_price_usd="10", spend_cap_usd="5")
    )

    assert "both prices" in str(page.context["form"].errors["spend_cap_usd"])
    assert SutRecord.objects.count() == 0


@pytest.mark.parametrize("query", ["kind=scripted", "kind=nothing", "preset=nothing", "kind="])
def test_what_cannot_be_registered_leads_back_to_the_choice(query):
    answer = browser_of(Role.RESEARCHER).post(f"/suts/new/?{query}", {"name": "x"})

    assert (answer.status_code, SutRecord.objects.count()) == (200, 0)
    assert answer.templates[0].name == "searches/sut_choose.html"


@pytest.mark.parametrize("kind", WEB_KINDS)
def test_every_setting_of_a_kind_stands_in_its_form_once(kind):
    form = browser_of(Role.RESEARCHER).get(f"/suts/new/?kind={kind}").context["form"]

    drawn = [bound.name for section in form.sections() for bound in section.fields]

    assert sorted(drawn) == sorted(set(form.fields) - {"name", "slug", "description", "calibrate_now"})


@pytest.mark.parametrize("name", list(SUT_PRESETS))
def test_a_preset_that_is_sent_as_it_is_shown_keeps_every_setting(name, settings):
    settings.ENDPOINT_ALLOW = ["127.0.0.1:1-65535"]
    preset = SUT_PRESETS[name]
    model = str(preset.params.get("model") or "m-1")
    form = RegisterSutForm(
        sent(preset.kind, dict(preset.params), model=model, secret="AKIA0123:" + SECRET),
        kind=preset.kind,
        base=preset.params,
    )
    hub = {"hub_id": preset.params["checkpoint"]} if "checkpoint" in preset.params else {}
    form.data = form.data | hub

    assert dict(form.errors) == {}
    wanted = dict(preset.params) | ({"model": model} if "model" in form.fields else {})
    assert parse_params(preset.kind, form.params()) == parse_params(preset.kind, wanted)


def test_registering_a_remote_system_stores_its_settings_and_its_new_key_sealed():
    values = sent(
        "gemini",
        secret=SECRET,
        key_name="Team",
        temperature="0.5",
        thinking="low",
        max_output_tokens="4096",
        input_price_usd="0.5",
        asking__convention__order="yxyx",
    )

    sut = registered(GEMINI, values)

    assert (sut.slug, sut.queue, sut.params["temperature"], sut.params["thinking"]) == (
        "remote-one", "api", 0.5, "low",
    )  # fmt: skip
    assert (sut.params["asking"]["convention"]["order"], sut.params["input_price_usd"]) == ("yxyx", 0.5)
    assert (sut.api_key.name, sut.api_key.last_characters, sut.api_key.secret.reveal()) == (
        "Team",
        "WXYZ",
        SECRET,
    )
    assert list(AuditEntry.objects.order_by("id").values_list("verb", flat=True)) == ["stored", "registered"]


def test_registering_takes_a_stored_key_of_the_kind_and_offers_no_other():
    mine = create_key(name="Mine", kind="anthropic", secret=SECRET, by=None)
    create_key(name="Other", kind="gemini", secret=SECRET, by=None)

    offered = browser_of(Role.RESEARCHER).get(ANTHROPIC).context["form"].fields["api_key"].choices
    sut = registered(ANTHROPIC, sent("anthropic", model="claude-haiku-4-5", api_key=str(mine.pk)))

    assert [value for value, _ in offered] == ["", str(mine.pk), "new"]
    assert sut.api_key == mine


def test_a_new_system_is_calibrated_when_that_is_ticked_and_only_then():
    browser = browser_of(Role.RESEARCHER)
    browser.post(GEMINI, sent("gemini", secret=SECRET, name="One", calibrate_now="on"))
    browser.post(GEMINI, sent("gemini", secret=SECRET, name="Two", key_name="Two"))

    jobs = list(Job.objects.values_list("kind", "params__sut"))

    assert sorted(SutRecord.objects.values_list("slug", flat=True)) == ["one", "two"]
    assert jobs == [(JobKind.CALIBRATE_SUT, "one")]


@pytest.mark.parametrize(
    ("path", "values", "field", "words"),
    [
        (OPENAI, {"base_url": "http://10.0.0.7:8000/v1"}, "base_url", "VLMLAB_ENDPOINT_ALLOW"),
        (OPENAI, {"base_url": "ftp://example.org/v1"}, "base_url", "http"),
        (OPENAI, {"base_url": "https://user:pw@example.org/v1"}, "base_url", ""),
        (OPENAI, {"base_url": "https://example.org/v1/chat/completions"}, "base_url", "completions out"),
        (OPENAI, {"model": "two words"}, "model", "character that is not allowed"),
        (OPENAI, {"model": ""}, "model", "Enter at least one character."),
        (OPENAI, {"asking__prompt_style": "sing_it"}, "asking__prompt_style", "“sing_it” is none"),
        (OPENAI, {"asking__convention__scale": "-1"}, "asking__convention__scale", "above 0"),
        (OPENAI, {"asking__convention__scale": ""}, "asking__convention__scale", "Give a scale"),
        (OPENAI, {"asking__convention__scale": "wide"}, "asking__convention__scale", "Enter a number"),
        (OPENAI, {"asking__localization_template": "Find it"}, "asking__localization_template", "{targets}"),
        (OPENAI, {"asking__choice_template": "Say"}, "asking__choice_template", "{question}"),
        (OPENAI, {"max_output_tokens": "0"}, "max_output_tokens", "from 1 to 65,536"),
        (OPENAI, {"temperature": "3"}, "temperature", "from 0 to 2"),
        (OPENAI, {"temperature": "nan"}, "temperature", "Enter a number"),
        (OPENAI, {"extra_body": "{seed: 1}"}, "extra_body", "not JSON (line 1, character 2)"),
        (OPENAI, {"extra_body": "[1]"}, "extra_body", "JSON object"),
        (OPENAI, {"extra_body": '{"a": NaN}'}, "extra_body", "no such value"),
        (OPENAI, {"extra_body": "[" * 15_000}, "extra_body", "JSON"),
        (OPENAI, {"extra_body": '{"a": ["\\u0000"]}'}, "extra_body", "cannot be stored"),
        (OPENAI, {"extra_body": '{"\\ud800": 1}'}, "extra_body", "cannot be stored"),
        (OPENAI, {"secret": "two\nlines"}, "secret", "one line"),
        (GEMINI, {}, "api_key", "needs a key"),
        (GEMINI, {"api_key": "new"}, "secret", "The key is empty."),
        (GEMINI, {"api_key": "999"}, "api_key", "choice"),
        (ANTHROPIC, {"secret": SECRET, "thinking": "low"}, "thinking", "cannot think"),
        ("/suts/new/?kind=bedrock", {"region": "the moon"}, "region", "not allowed"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_at_its_field_and_nothing_is_stored(path, values, field, words):
    kind = path.partition("kind=")[2]
    model = {"model": "claude-3-5-sonnet"} if "thinking" in values else {}

    page = browser_of(Role.RESEARCHER).post(path, sent(kind, **model | values))

    errors = page.context["form"].errors
    assert (page.status_code, next(iter(errors))) == (422, field)
    assert words in str(errors[field][0])
    assert f'href="#id_{field}"' in page.content.decode()
    assert (SutRecord.objects.count(), ApiKey.objects.count()) == (0, 0)


def test_all_wrong_values_are_told_at_once():
    page = browser_of(Role.RESEARCHER).post(
        OPENAI, sent("openai_chat", model="a b", concurrency="0", asking__convention__bin_offset="7")
    )

    assert sorted(page.context["form"].errors) == ["asking__convention__bin_offset", "concurrency", "model"]


def test_after_an_error_everything_stands_as_it_was_typed_but_the_key_must_be_pasted_again():
    values = sent(
        "gemini", secret=SECRET, key_name="Team", concurrency="900", asking__choice_template="Q: {question}!"
    )

    page = browser_of(Role.RESEARCHER).post(GEMINI, values)

    html, errors = page.content.decode(), page.context["form"].errors
    assert SECRET not in html
    assert ('value="Team"' in html, 'value="900"' in html, "Q: {question}!" in html) == (True, True, True)
    assert "paste it again" in errors["secret"][0]
    assert list(errors) == ["concurrency", "secret"]


def test_address_and_key_are_judged_in_the_same_round_as_everything_else():
    create_key(name="Team", kind="gemini", secret=SECRET, by=None)
    far = create_key(name="Far", kind="openai_chat", secret=SECRET, by=None, address="https://far.example/v1")
    browser = browser_of(Role.RESEARCHER)

    address = browser.post(
        OPENAI, sent("openai_chat", model="", base_url="http://10.0.0.7:8000/v1", concurrency="0")
    )
    stored = browser.post(OPENAI, sent("openai_chat", name="", temperature="3", api_key=str(far.pk)))
    named = browser.post(GEMINI, sent("gemini", temperature="3", secret=SECRET, key_name="Team"))

    assert sorted(address.context["form"].errors) == ["base_url", "concurrency", "model"]
    assert "add 10.0.0.7:8000 to" in address.context["form"].errors["base_url"][0]
    assert sorted(stored.context["form"].errors) == ["api_key", "name", "temperature"]
    assert "is only for https://far.example" in stored.context["form"].errors["api_key"][0]
    assert sorted(named.context["form"].errors) == ["key_name", "secret", "temperature"]


def test_a_refused_address_stores_no_key_either():
    page = browser_of(Role.RESEARCHER).post(
        OPENAI, sent("openai_chat", base_url="http://169.254.169.254/v1", secret=SECRET)
    )

    assert sorted(page.context["form"].errors) == ["base_url", "secret"]
    assert (SECRET in page.content.decode(), ApiKey.objects.count()) == (False, 0)


def test_a_name_of_a_key_that_is_taken_is_told_at_the_name_of_the_key():
    create_key(name="Team", kind="gemini", secret=SECRET, by=None)

    page = browser_of(Role.RESEARCHER).post(GEMINI, sent("gemini", secret=SECRET, key_name="Team"))

    assert sorted(page.context["form"].errors) == ["key_name", "secret"]
    assert SutRecord.objects.count() == 0


def test_pixels_need_no_scale_whatever_stands_in_its_field():
    sut = registered(OPENAI, sent("openai_chat", asking__convention__space="seen_pixels"))

    assert sut.params["asking"]["convention"]["scale"] is None


def test_a_local_server_that_is_allowed_is_registered(settings):
    settings.ENDPOINT_ALLOW = ["127.0.0.0/8:8000-8999"]

    sut = registered(
        OPENAI, sent("openai_chat", base_url="http://127.0.0.1:8000/v1", extra_body='{"seed": 7}')
    )

    assert (sut.params["base_url"], sut.params["extra_body"]) == ("http://127.0.0.1:8000/v1", {"seed": 7})


def test_editing_shows_what_is_stored_and_can_change_the_key():
    browser = browser_of(Role.RESEARCHER)
    browser.post(GEMINI, sent("gemini", secret=SECRET, key_name="Old", asking__convention__order="yxyx"))
    sut = SutRecord.objects.get()

    shown = browser.get("/suts/remote-one/edit/").context["form"]
    values = {b.name: "" if b.initial is None else str(b.field.prepare_value(b.initial)) for b in shown}
    answer = browser.post(
        "/suts/remote-one/edit/",
        values | {"api_key": "new", "secret": "another-key-123456", "key_name": "New"},
    )

    before = sut.params
    sut.refresh_from_db()
    assert answer.status_code == 302
    assert (shown["api_key"].initial, shown["asking__convention__order"].initial) != ("", "xyxy")
    assert (sut.api_key.name, sut.params == before) == ("New", True)
    assert ApiKey.objects.count() == 2


def test_a_change_of_somebody_else_meanwhile_is_told_before_it_is_overwritten():
    sut = registered(OPENAI, sent("openai_chat"))
    browser = browser_of(Role.RESEARCHER)
    seen = browser.get("/suts/remote-one/edit/").context["seen"]
    mine = sent("openai_chat", name="Mine", temperature="0.5")
    SutRecord.objects.filter(pk=sut.pk).update(name="Theirs")

    wrong = browser.post("/suts/remote-one/edit/", mine | {"seen": seen, "concurrency": "0"})
    told = browser.post("/suts/remote-one/edit/", mine | {"seen": wrong.context["seen"]})
    kept = SutRecord.objects.get().name
    again = browser.post("/suts/remote-one/edit/", mine | {"seen": told.context["seen"]})

    page = told.content.decode()
    assert (told.status_code, kept) == (422, "Theirs")
    assert ("changed by somebody else" in page, 'value="Mine"' in page) == (True, True)
    assert (again.status_code, SutRecord.objects.get().name) == (302, "Mine")


def test_an_undisturbed_edit_is_saved_at_once():
    registered(OPENAI, sent("openai_chat"))
    browser = browser_of(Role.RESEARCHER)
    seen = browser.get("/suts/remote-one/edit/").context["seen"]

    saved = browser.post("/suts/remote-one/edit/", sent("openai_chat", name="Mine", seen=seen))

    assert (saved.status_code, SutRecord.objects.get().name) == (302, "Mine")


def test_a_change_of_the_key_stands_in_the_history_of_the_system():
    browser = browser_of(Role.RESEARCHER)
    browser.post(GEMINI, sent("gemini", secret=SECRET, key_name="Old"))
    values = sent("gemini", api_key="new", secret="another-key-123456", key_name="New")

    browser.post("/suts/remote-one/edit/", values)

    changes = browser.get("/suts/remote-one/").context["overview"].changes
    assert [(change.entry.verb, change.changed) for change in changes] == [
        ("edited", (("Key", "Old", "New"),)),
        ("registered", ()),
    ]


def test_a_setting_that_this_version_does_not_know_is_dropped_by_an_edit():
    params = parse_params("openai_chat", {"model": "m-1"}).model_dump(mode="json")
    params["asking"]["convention"]["odd"] = 1
    sut = make_sut("remote", kind="openai_chat", params=params | {"gone": 7})

    answer = browser_of(Role.RESEARCHER).post("/suts/remote/edit/", sent("openai_chat"))

    sut.refresh_from_db()
    assert answer.status_code == 302
    assert ("gone" in sut.params, "odd" in sut.params["asking"]["convention"]) == (False, False)


def test_a_system_of_a_kind_that_only_tests_register_cannot_be_edited():
    make_sut("pocket")

    assert browser_of(Role.RESEARCHER).get("/suts/pocket/edit/").status_code == 404


def test_the_form_shows_the_exact_request_without_the_key_and_stores_nothing():
    browser = browser_of(Role.RESEARCHER)
    values = sent("openai_chat", secret=SECRET, asking__choice_template="Well: {question}", preview="1")

    whole = browser.post(OPENAI, values)
    part = browser.post(OPENAI, values, headers={"HX-Request": "true"})

    texts = [one.text for one in whole.context["requests"]]
    assert (whole.status_code, part.status_code, len(texts)) == (200, 200, 2)
    assert '"model": "m-1"' in texts[1]
    assert "Well: The picture" in texts[1]
    assert "PNG picture, 448 x 336" in texts[0]
    assert ("<form" in whole.content.decode(), "<form" in part.content.decode()) == (True, False)
    assert SECRET not in whole.content.decode() + part.content.decode()
    assert (SutRecord.objects.count(), ApiKey.objects.count()) == (0, 0)


def test_the_exact_request_of_a_form_with_errors_says_what_to_correct():
    answer = browser_of(Role.RESEARCHER).post(
        OPENAI, sent("openai_chat", model="", preview="1"), headers={"HX-Request": "true"}
    )

    assert (answer.status_code, answer.context["problem"]) == (200, "Correct these first: Model.")


def test_a_stranger_sees_no_form():
    assert Client().get(OPENAI).status_code == 302
