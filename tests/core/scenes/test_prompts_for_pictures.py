"""Prompts of sets: the domain's frame, the concepts' own words, and a background that the seed chooses."""

import itertools
from dataclasses import replace

import pytest

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.prompts_for_pictures import (
    BACKGROUNDS,
    FRAMES,
    PicturePrompt,
    background_words,
    picture_prompt,
    ruled_out,
)

DRIVING = load_domain("driving")
INDOOR = load_domain("indoor")
SET = DRIVING.canonical(("light_red", "pedestrian", "on_sidewalk", "far"))


def test_prompt_holds_the_frame_every_snippet_and_joins_places_to_what_they_change():
    prompt = picture_prompt(DRIVING, SET, seed=1, style="A photograph.", avoid="text, logos")

    words = {one: DRIVING.concept(one).snippet for one in SET}
    person = f"{words['pedestrian']}, {words['on_sidewalk']}, {words['far']}"
    assert prompt.text.startswith(f"A photograph. {FRAMES['driving']} It clearly shows (1) ")
    assert f"(1) {words['light_red']}; (2) {person}." in prompt.text
    assert prompt.avoid == ("text", "logos", DRIVING.concept("light_green").snippet)


def test_a_single_thing_is_not_numbered_and_weather_has_a_sentence_of_its_own():
    prompt = picture_prompt(DRIVING, DRIVING.canonical(("cone", "weather_foggy")), seed=1)

    fog = DRIVING.concept("weather_foggy").snippet
    assert "It clearly shows an orange traffic cone." in prompt.text
    assert f"The weather and the light: {fog}." in prompt.text
    assert "(1)" not in prompt.text


def test_whole_names_what_to_leave_out_and_text_does_not():
    prompt = PicturePrompt("A cone.", ("text", "logos"))

    assert (prompt.whole, prompt.text) == ("A cone. Leave out: text; logos.", "A cone.")
    assert PicturePrompt("A cone.").whole == "A cone."


@pytest.mark.parametrize("slug", DOMAIN_SLUGS)
def test_every_valid_pair_has_a_prompt_with_the_words_of_both(slug):
    domain = load_domain(slug)

    for mask in domain.universe(2)[::7]:
        key = domain.key_of(int(mask))
        text = picture_prompt(domain, key, seed=3).text

        assert [
            one for one in key if (domain.concept(one).snippet or domain.concept(one).label) not in text
        ] == []


def test_same_seed_gives_the_same_words_and_other_seeds_or_attempts_others():
    drawn = {background_words(DRIVING, SET, seed=seed) for seed in range(20)}
    attempts = {background_words(DRIVING, SET, seed=1, attempt=number) for number in range(8)}

    assert background_words(DRIVING, SET, seed=5) == background_words(DRIVING, SET, seed=5)
    assert (len(drawn) > 10, len(attempts) > 4) == (True, True)


def test_a_set_that_says_the_light_gets_no_time_of_day_and_the_other_words_stay():
    plain = background_words(DRIVING, DRIVING.canonical(("cone",)), seed=4)
    foggy = background_words(DRIVING, DRIVING.canonical(("cone", "weather_foggy")), seed=4)

    assert (len(plain), foggy) == (5, plain[:4])


def test_background_words_name_no_concept():
    words = {word for rows in BACKGROUNDS.values() for row in rows.values() for word in row}
    labels = {one.label.lower() for domain in (DRIVING, INDOOR) for one in domain.concepts} - {"kitchen"}

    assert [(word, label) for word, label in itertools.product(words, labels) if label in word] == []


def test_short_form_holds_the_set_and_little_else():
    prompt = picture_prompt(DRIVING, DRIVING.canonical(("pedestrian", "far", "weather_foggy")), seed=2)

    words = {one: DRIVING.concept(one).snippet for one in ("pedestrian", "far", "weather_foggy")}
    assert prompt.short == (
        "Photograph through the windscreen of a car on its lane: "
        f"{words['pedestrian']}, {words['far']}; {words['weather_foggy']}."
    )


def test_a_domain_that_nothing_built_in_draws_is_framed_by_its_title():
    own = replace(DRIVING, draws_as="", title="Warehouse")

    prompt = picture_prompt(own, own.canonical(("cone",)), seed=2)

    assert prompt.text.startswith("One realistic scene of the kind: Warehouse. It clearly shows")
    assert [
        word in words for word, words in zip(prompt.background, BACKGROUNDS[""].values(), strict=True)
    ] == [
        True,
        True,
        True,
    ]


def test_ruled_out_lists_counterparts_of_things_but_no_weather_place_or_distance():
    assert ruled_out(DRIVING, DRIVING.canonical(("weather_foggy", "cone", "near", "town_town01"))) == ()
    covered = ruled_out(INDOOR, INDOOR.canonical(("outlet_covered",)))
    exposed = INDOOR.concept("outlet_exposed")
    assert covered == ((exposed.snippet or exposed.label).rstrip("."),)


def test_a_long_prompt_loses_background_then_style_and_never_a_concept():
    whole = picture_prompt(DRIVING, SET, seed=1, style="A photograph of great calm.", avoid="text")
    size = len(whole.whole.split())

    less = picture_prompt(
        DRIVING, SET, seed=1, style="A photograph of great calm.", avoid="text", max_words=size - 1
    )
    least = picture_prompt(
        DRIVING, SET, seed=1, style="A photograph of great calm.", avoid="text",
        max_words=len(less.whole.split()) - 1,
    )  # fmt: skip

    assert (whole.background != (), less.background, "great calm" in less.text) == (True, (), True)
    assert ("great calm" in least.text, DRIVING.concept("pedestrian").snippet in least.text) == (False, True)


def test_words_that_never_fit_are_an_error_with_a_way_out():
    with pytest.raises(GenerationError) as error:
        picture_prompt(DRIVING, SET, seed=1, max_characters=60)

    assert "too long" in error.value.message
    assert error.value.hint.startswith("Use fewer concepts")
