"""Random search draws sizes evenly, valid sets only, none twice."""

from collections import Counter

from tests.core.revelio.tiny import TinyDomain, coin, play, tiny_search


def test_random_draws_sizes_evenly_and_no_set_twice():
    domain = TinyDomain("abcdefghijklmnopqrst", max_size=5, forbidden=("ab",))
    search = tiny_search(domain, algorithm="random", inference_budget=60, samples_per_set=1, max_set_size=5)

    batches = play(search, coin(0.5))

    keys = [query.key for queries, _ in batches for query in queries]
    sizes = Counter(len(key) for key in keys)
    assert len(set(keys)) == 60
    assert set(sizes) == {1, 2, 3, 4}
    assert max(sizes.values()) <= 25
    assert not any({"a", "b"} <= set(key) for key in keys)


def test_random_ends_when_every_set_was_tried():
    search = tiny_search(TinyDomain("abc", max_size=2), algorithm="random", samples_per_set=1)

    play(search, coin(0.5))

    assert sorted("".join(key) for key in search.trials) == ["a", "ab", "ac", "b", "bc", "c"]
