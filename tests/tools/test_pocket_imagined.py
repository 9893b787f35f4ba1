"""Scenes that nobody draws: valid sets with made-up boxes."""

from collections import Counter

from tools.pocket.imagined import imagined_record
from tools.pocket.rarity import deciding_weight
from tools.pocket.shards import PictureRecord
from tools.pocket.truth import EMERGENCY_VEHICLES, area, states_of
from vlmlab.core.replies.probe_pictures import COLOURS
from vlmlab.core.scenes.asked_labels import LABELS
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import LIGHT_COLOURS
from vlmlab.core.seeding import rng_for


def drawn(count):
    rng = rng_for(1, "imagined")
    return [imagined_record(rng) for _ in range(count)]


def test_imagined_records_are_of_both_domains_alike_and_seldom_of_the_calibration():
    domains = Counter(one.domain for one in drawn(1200))

    assert set(domains) == {"driving", "indoor", "probe"}
    assert abs(domains["driving"] - 576) < 90
    assert abs(domains["indoor"] - 576) < 90
    assert 20 <= domains["probe"] <= 80


def test_imagined_sets_are_valid_and_their_things_are_seen_nearly_always():
    records = [one for one in drawn(600) if one.domain != "probe"]
    shown = wanted = 0

    for one in records:
        domain = load_domain(one.domain)
        things = [name for name in one.key if domain.concept(name).is_thing or name in LIGHT_COLOURS]
        assert domain.is_compatible(one.key)
        assert [thing.concept for thing in one.objects] == [
            name for name in things if name in {thing.concept for thing in one.objects}
        ]
        shown, wanted = shown + len(one.objects), wanted + len(things)

    assert 0.94 < shown / wanted < 0.98


def test_sets_that_teach_decisions_are_small_and_have_each_answer_alike():
    rng = rng_for(2, "imagined")
    records = [imagined_record(rng, decides=True) for _ in range(1200)]
    answers = Counter((one.domain, load_domain(one.domain).decide(one.key).action) for one in records)
    close = [one for one in records if "wheelchair_pedestrian" in one.key]

    assert all(deciding_weight(one) > 0 for one in records)
    assert set(answers) == {
        (slug, action) for slug in ("driving", "indoor") for action in load_domain(slug).actions
    }
    assert all(abs(answers["driving", one] - 200) < 50 for one in load_domain("driving").actions)
    assert all(abs(answers["indoor", one] - 300) < 60 for one in load_domain("indoor").actions)
    grave = sum(load_domain("driving").decide(one.key).action == "emergency_stop" for one in close)
    assert grave < len(close) / 3


def test_imagined_boxes_lie_inside_and_far_things_are_small():
    for one in drawn(600):
        states = states_of(one)
        for thing in one.objects:
            x0, y0, x1, y1 = thing.box
            assert 0.0 <= x0 < x1 <= 1.0
            assert 0.0 <= y0 < y1 <= 1.0
            if states.get(thing.concept) in ("far", "light"):
                assert area(thing.box) <= 0.2 * 0.2 + 1e-9


def test_imagined_things_are_asked_for_where_their_label_means_one_thing():
    asked = Counter()

    for one in drawn(1500):
        kinds, labels = [thing.kind for thing in one.objects], [thing.label for thing in one.objects]
        for thing in one.objects:
            if one.domain == "probe":
                assert (thing.is_asked, thing.label.split()[0] in COLOURS) == (True, True)
                continue
            mistaken = LABELS[thing.kind].mistaken_for if thing.kind in LABELS else frozenset()
            is_clear = thing.kind in LABELS and labels.count(thing.label) == 1 and mistaken.isdisjoint(kinds)
            asked[thing.is_asked] += 1
            assert thing.is_asked == is_clear
            if thing.kind == "emergency_vehicle":
                assert thing.label in EMERGENCY_VEHICLES

    assert min(asked.values()) > 200


def test_the_same_generator_imagines_the_same_scene():
    first = imagined_record(rng_for(3, "same"))

    assert isinstance(first, PictureRecord)
    assert first == imagined_record(rng_for(3, "same"))
