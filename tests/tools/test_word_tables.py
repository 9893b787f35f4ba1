"""Homophones come from pronunciations and synonyms from meanings, as one would find them by hand."""

import pytest

from tools.word_tables.homophones import Homophones
from tools.word_tables.names import ADDED, COCO, LEFT_OUT, SENSES
from tools.word_tables.pronunciations import ALIKE, read_dictionary
from tools.word_tables.respelling import respellings
from tools.word_tables.sources import find_sources
from tools.word_tables.synonyms import ClassSynonyms, chosen_synonyms
from tools.word_tables.wordnet import read_wordnet
from vlmlab.core.scenes.asked_labels import LABELS, VARIANTS

SPOKEN = """\
bear B EH1 R
bare B EH1 R
baer B EH1 R # a name
pear P EH1 R
cup K AH1 P
cab K AE1 B
car K AA1 R
pit P IH1 T
carpet K AA1 R P AH0 T
carpet(2) K AA1 R P IH0 T
cap K AE1 P
nut N AH1 T
donut D OW1 N AH2 T
doughnut D OW1 N AH2 T
dough D OW1
"""

SYNSETS = {
    # (part of speech, words, hypernyms by first word, gloss, how often met)
    "noun": [
        (("animal",), (), "a living being", 3),
        (("bear",), ("animal",), "a massive animal", 5),
        (("cup",), (), "a container", 9),
        (("cap",), (), "a hat", 2),
        (("hack",), (), "a bad writer", 9),
        (("cab", "taxi", "hack"), (), "a car for hire", 2),
        (("car",), (), "a machine", 4),
        (("pit",), (), "a hole", 1),
        (("carpet",), (), "a floor covering", 1),
        (("doughnut", "donut", "sinker"), (), "a small cake", 0),
        (("dough",), (), "a paste", 1),
        (("nut",), (), "a fruit", 1),
        (("snake", "serpent"), ("animal",), "a reptile", 1),
        (("Crotalus", "genus Crotalus"), (), "rattlesnakes", 0),
        (("night snake", "Crotalus nocturnus"), ("snake",), "a snake of the night", 0),
        (("pear",), (), "an offensive term for a fruit", 9),
    ],
    "adj": [(("bare",), (), "without covering", 7)],
    "verb": [],
    "adv": [],
}


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dict")
    offsets = {}
    senses, counts = {}, []
    for part, synsets in SYNSETS.items():
        lines = ["  1 a licence"]
        for place, (words, kinds, gloss, count) in enumerate(synsets):
            offset = f"{place + 1:08}"
            offsets.setdefault(words[0], offset)
            names = " ".join(f"{word.replace(' ', '_')} 0" for word in words)
            pointers = "".join(f"@ {offsets[kind]} n 0000 " for kind in kinds)
            lines.append(
                f"{offset} 00 {part[0]} {len(words):02x} {names} {len(kinds):03} {pointers}| {gloss}"
            )
            for word in words:
                if part == "noun":
                    senses.setdefault(word.lower(), []).append(offset)
                counts.append(f"{word.lower().replace(' ', '_')}%1:00:00:: {offset} 1 {count}")
        (folder / f"data.{part}").write_text("\n".join(lines) + "\n")
    index = [
        f"{word.replace(' ', '_')} n {len(found)} 0 {len(found)} 0 {' '.join(found)}"
        for word, found in senses.items()
    ]
    (folder / "index.noun").write_text("  1 a licence\n" + "\n".join(index) + "\n")
    (folder / "index.sense").write_text("\n".join(counts) + "\n")
    return read_wordnet(folder)


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory):
    file = tmp_path_factory.mktemp("cmudict") / "cmudict.dict"
    file.write_text(SPOKEN)
    return read_dictionary(file)


def test_words_sound_the_same_whatever_their_stress(dictionary):
    assert dictionary.exact("bear") == ["baer", "bare"]
    assert dictionary.exact("cup") == []
    assert dictionary.exact("unheard") == []


def test_a_word_is_split_into_two_words_with_its_phonemes_unless_that_only_parts_its_letters(dictionary):
    assert dictionary.split("carpet", lambda _word: True) == ["car pit"]
    assert dictionary.split("donut", lambda _word: True) == ["dough nut"]
    assert dictionary.split("doughnut", lambda _word: True) == []
    assert dictionary.split("carpet", lambda word: word != "pit") == []


def test_near_words_differ_by_one_phoneme_that_is_easily_mistaken(dictionary):
    assert dictionary.near("bear") == ["pear"]
    assert dictionary.near("cup") == ["cap"]
    assert dictionary.near("cab") == ["cap"]
    assert all(phoneme not in heard for phoneme, heard in ALIKE.items())


@pytest.mark.parametrize(
    ("word", "spoken", "first"),
    [
        ("knife", "N AY F", "nife"),
        ("elephant", "EH L AH F AH N T", "elefant"),
        ("cup", "K AH P", "kup"),
        ("bicycle", "B AY S IH K AH L", "bicykle"),
        ("light", "L AY T", "lite"),
        ("phone", "F OW N", "fone"),
        ("bottle", "B AA T AH L", "bottel"),
        ("bread", "B R EH D", "bred"),
        ("garbage", "G AA R B IH JH", "garbige"),
        ("dog", "D AO G", "dawg"),
    ],
)
def test_a_word_is_spelled_as_it_is_heard(word, spoken, first):
    assert respellings(word, tuple(spoken.split()))[0] == first


@pytest.mark.parametrize(
    ("word", "spoken"), [("chef", "SH EH F"), ("heart", "HH AA R T"), ("ham", "HH AE M")]
)
def test_letters_that_are_spoken_otherwise_stay(word, spoken):
    assert respellings(word, tuple(spoken.split())) == []


def test_a_label_has_homophones_of_its_closest_kind(dictionary, wordnet):
    homophones = Homophones(dictionary, wordnet, ["brown bear", "cup", "cab"])

    assert [(one.text, one.closeness) for one in homophones.of("Brown Bear")] == [("brown bare", "exact")]
    assert [(one.text, one.closeness) for one in homophones.of("cup")] == [("kup", "respelled")]
    assert homophones.of("unheard") == []


def test_another_label_and_an_offensive_word_are_no_homophones(dictionary, wordnet):
    assert Homophones(dictionary, wordnet, ["bare"]).of("bear") == []


def test_another_spelling_of_the_same_word_is_no_homophone(dictionary, wordnet):
    assert [one.closeness for one in Homophones(dictionary, wordnet, []).of("donut")] == ["split"]
    assert [one.text for one in Homophones(dictionary, wordnet, []).of("donut")] == ["dough nut"]


def test_names_of_a_class_are_synonyms_of_each_other_where_they_mostly_mean_it(wordnet):
    names = ("cab", "hack", "taxi")

    found = ClassSynonyms([names], wordnet).of(names)

    assert {label: [one.text for one in others] for label, others in found.items()} == {
        "cab": ["hack", "taxi"],
        "taxi": ["cab", "hack"],
    }


def test_a_snake_without_another_name_gets_one_for_its_kind(wordnet):
    names = ("night snake", "Crotalus nocturnus")

    found = ClassSynonyms([names], wordnet).of(names)

    assert [(one.text, one.closeness) for one in found["night snake"]] == [("night serpent", "part")]
    assert list(found) == ["night snake"]


def test_a_name_that_two_classes_share_has_no_synonyms(wordnet):
    found = ClassSynonyms([("cab", "taxi"), ("cab",)], wordnet).of(("cab", "taxi"))

    assert {label: [one.text for one in others] for label, others in found.items()} == {"taxi": []}


def test_chosen_synonyms_leave_out_what_is_left_out_by_hand(wordnet):
    assert [one.text for one in chosen_synonyms("donut", wordnet)] == ["doughnut"]


def test_choices_by_hand_are_about_labels_that_exist():
    labels = {label.text for label in LABELS.values()} | set(VARIANTS.values()) | set(COCO)

    assert set(SENSES) | set(ADDED) <= labels
    assert len(set(COCO)) == 80
    assert all(label == label.lower() for label in LEFT_OUT)


def test_missing_packages_and_other_versions_are_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"cmudict.dict is missing; see tools/word_tables/README.md"):
        find_sources(tmp_path)
    (tmp_path / "cmudict" / "data").mkdir(parents=True)
    (tmp_path / "cmudict" / "data" / "cmudict.dict").write_text(SPOKEN)
    with pytest.raises(SystemExit, match="is another version: its SHA-256 is"):
        find_sources(tmp_path)
