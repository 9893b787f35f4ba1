"""Domain files: every problem is named with its row and what to do, and what is right stays what it is."""

# One case a line reads best in the table of problems.
# ruff: noqa: E501
import copy

import pytest

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, built_in_content, load_domain
from vlmlab.core.scenes.domain_files import (
    check_content,
    check_domain_file,
    example_text,
    read_domain_file,
    write_domain_file,
)
from vlmlab.core.scenes.domain_problems import DomainFileError

SMALL = """
slug: desk
actions:
- {id: act}
- {id: wait}
question: "What now? {options}"
concepts:
- id: cup
- id: knife
- id: cat
rules:
- {id: sharp, when: {has: [knife]}, action: act}
- {id: rest, action: wait}
"""


@pytest.fixture
def content():
    return copy.deepcopy(check_domain_file(SMALL).content)


def said(checked) -> list[str]:
    return [str(one) for one in checked.problems]


@pytest.mark.parametrize("slug", DOMAIN_SLUGS)
@pytest.mark.parametrize("file_format", ["yaml", "json"])
def test_a_built_in_domain_is_valid_and_keeps_its_version_through_a_file(slug, file_format):
    text = write_domain_file(built_in_content(slug), file_format)

    checked = read_domain_file(text)

    assert (said(checked), checked.domain.version) == ([], load_domain(slug).version)


def test_the_example_is_valid_without_a_warning_and_keeps_its_version_through_a_file():
    checked = read_domain_file(example_text())

    again = read_domain_file(write_domain_file(checked.content))

    assert (said(checked), again.domain.version) == ([], checked.domain.version)
    assert [one.valid_sets for one in checked.sense.sizes] == [11, 95, 389, 996]
    assert 12 <= len(checked.domain.concepts) <= 18
    assert checked.domain.draws_as == ""


def test_what_is_left_out_is_filled_in():
    domain = read_domain_file(SMALL).domain

    cup = domain.concept("cup")
    assert (domain.title, domain.max_size) == ("Desk", 4)
    assert (cup.label, cup.category, cup.kind, cup.glyph) == ("Cup", "Concepts", "object", "prop")
    assert (cup.statement_true, cup.statement_false) == (
        "The picture shows: cup.",
        "The picture does not show: cup.",
    )
    assert (domain.actions, domain.option_texts) == ({"act": "Act", "wait": "Wait"},) * 2
    assert [(rule.title, rule.why) for rule in domain.rules] == [("Sharp", "Sharp."), ("Rest", "Rest.")]
    assert domain.answer_request == "Reply with the letter of one option and nothing else."


def test_every_problem_is_named_at_once_with_its_line():
    text = SMALL.replace("id: cup", "id: Cup 1").replace("has: [knife]", "hat: [knife]") + "colour: red\n"

    assert said(check_domain_file(text)) == [
        "line 8, concept 1 “Cup 1”, id: “Cup 1” cannot be an id. Write small letters, digits and "
        "underscores, a letter first.",
        "line 12, rule 1 “sharp”, when.hat: There is no key “hat” here. Did you mean has?",
        "line 14, colour: There is no key “colour” here. Known: slug, title, max_size, default_weather, "
        "aliases, distances_m, macros, decides_by, error_words, draws_as, kinematics, actions, question, "
        "answer_request, reason_request, concepts, constraints, rules.",
    ]


def test_an_error_says_the_first_problem_and_how_many_more():
    with pytest.raises(DomainFileError) as caught:
        read_domain_file(SMALL.replace("[knife]", "[knive]").replace("action: wait", "action: sleep"))

    assert str(caught.value) == (
        "line 12, rule 1 “sharp”, when.has: There is no concept “knive”. Did you mean knife? "
        "1 more problem was found."
    )
    assert len(caught.value.problems) == 2


def put(path, value):
    """Return a change that puts a value at a path."""

    def change(content):
        place = content
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value

    return change


def add(section, *rows):
    return lambda content: content.setdefault(section, []).extend(rows)


def drop(key):
    return lambda content: content.pop(key)


KINEMATICS = {"ego_speed_mps": 5.0, "full_braking_mps2": 7.0, "brake_share": {"act": 1.0, "wait": 0.0}}
RULE_Q = {
    "id": "asks",
    "title": "Asks",
    "when": {"has": ["cat"]},
    "action": "act",
    "why": "x",
    "question": "Sharp?",
}
WRONG = [
    # shape
    (drop("question"), "question: “question” is missing. Write it."),
    (drop("concepts"), "concepts: “concepts” is missing. Write it."),
    (put(("concepts",), []), "concepts: At least 1 is needed. Add what is missing."),
    (put(("concepts",), {"cup": 1}), "concepts: “{'cup': 1}” does not fit here. Write a list here, such as [first, second]."),
    (put(("concepts", 1), "knife"), "concept 2: “knife” does not fit here. Write keys with values here."),
    (put(("concepts", 0, "label"), 7), "concept 1 “cup”, label: “7” does not fit here. Write a text here; put numbers into quotes."),
    (put(("concepts", 0, "kind"), "thing"), "concept 1 “cup”, kind: “thing” is not known here. One of: map, signal, entity, modifier, scene, object, agent, state."),
    (put(("concepts", 0, "modifiable"), "perhaps"), "concept 1 “cup”, modifiable: “perhaps” does not fit here. Write true or false."),
    (put(("max_size",), "many"), "max_size: “many” does not fit here. Write a whole number."),
    (put(("max_size",), 9), "max_size: “9” does not fit here: it should be less than or equal to 8. Correct it."),
    (put(("rules", 0, "when"), {"elements": [{"a": 1}]}), "rule 1 “sharp”, when.elements.1: “{'a': 1}” does not fit here. Write a text here; put numbers into quotes."),
    (put(("actions",), [{"id": "act", "label": "Act", "option": "Act"}]), "actions: At least 2 are needed. Add what is missing."),
    (put(("decides_by",), "chance"), "decides_by: “chance” is not known here. One of: first, best_fit."),
    # names of the file and of rows
    (put(("slug",), "My Desk"), "slug: “My Desk” cannot be the short name of a domain. Small letters, digits and “-”, a letter first, at most 60 characters."),
    (put(("slug",), "new"), "slug: “new” is an address of the site itself. Choose another short name."),
    (put(("slug",), "a" * 61), f"slug: “{'a' * 60}…” cannot be the short name of a domain. Small letters, digits and “-”, a letter first, at most 60 characters."),
    (put(("concepts", 2, "id"), "cup"), "concept 3 “cup”, id: “cup” is the id of row 1 already. Give it another one."),
    (put(("concepts", 2, "label"), "cup"), "concept 3 “cat”, label: “cup” is the label of row 1 already. Give it another one."),
    (put(("rules", 1, "id"), "sharp"), "rule 2 “sharp”, id: “sharp” is the id of row 1 already. Give it another one."),
    (put(("rules", 1, "id"), "a b"), "rule 2 “a b”, id: “a b” cannot be an id. Write letters, digits, “_”, “.” and “-”, a letter first."),
    (put(("concepts", 0, "id"), "c" * 41), f"concept 1 “{'c' * 41}”, id: The text has 41 characters. At most 40 fit."),
    (put(("rules",), [{"id": f"r{n}", "action": "act"} for n in range(301)]), "rules: There are 301 rules. At most 300."),
    (put(("actions",), [{"id": f"a{n}"} for n in range(9)]), "actions: There are 9 answers. At most 8."),
    (add("concepts", *({"id": f"m{n}", "kind": "modifier", "sets": {"distance": "far"}} for n in range(11))), "concepts: There are 11 concepts that change another. At most 10."),
    # texts
    (put(("concepts", 0, "label"), "x" * 61), "concept 1 “cup”, label: The text has 61 characters. At most 60 fit."),
    (put(("concepts", 0, "label"), "a\nb"), "concept 1 “cup”, label: The text has several lines. Write it on one line."),
    (put(("concepts", 0, "snippet"), "  "), "concept 1 “cup”, snippet: The text is empty. Write it, or leave the key out."),
    (put(("question",), "What now?"), "question: The question has no place for the answers. Write {options} where the answers shall stand."),
    (put(("question",), "{options} at {speed}"), "question: The question names {speed}, but the domain has no speed. Write “kinematics”, or take {speed} out."),
    (put(("question",), "{options} {weather}"), "question: Nothing is put in place of “{weather}”. Known: {options}, {question}, {speed}."),
    (put(("question",), "{question} {options}"), "question: The rule “sharp” has no question to put in place of {question}. Give each rule its question."),
    (put(("rules", 0), RULE_Q), "question: The rule “asks” asks a question of its own, which nobody would see. Write {question} where it shall stand."),
    # names of others
    (put(("concepts", 0, "implies"), ["cot"]), "concept 1 “cup”, implies: There is no concept “cot”. Did you mean cat?"),
    (put(("concepts", 0, "implies"), ["cat", "cat"]), "concept 1 “cup”, implies: “cat” is named twice. Keep one of them."),
    (put(("concepts", 0, "sets"), {"colour": "red"}), "concept 1 “cup”, sets: A modifier cannot change “colour”. It changes placement or distance."),
    (put(("rules", 0, "when"), {"lacks": ["dog"]}), "rule 1 “sharp”, when.lacks: There is no concept “dog”. Write its row, or take the name out."),
    (put(("rules", 0, "when"), {"has": ["cat"], "lacks": ["cat"]}), "rule 1 “sharp”, when.lacks: “cat” must be there and must not. Take it out of one of the two."),
    (put(("rules", 0, "when"), {"elements": ["@pet"]}), "rule 1 “sharp”, when.elements: There is no macro “@pet”. Write it in “macros”."),
    (put(("rules", 0, "when"), {"elements": [["cat", "cop"]]}), "rule 1 “sharp”, when.elements: There is no concept “cop”. Did you mean cup?"),
    (put(("rules", 0, "when"), {"any_entity": {"placement": "lane", "distance": []}}), "rule 1 “sharp”, when.any_entity.placement: No concept ever has the placement “lane”. Give a concept this placement."),
    (put(("rules", 0, "action"), "wate"), "rule 1 “sharp”, action: “wate” is no answer of this domain. Did you mean wait?"),
    (put(("aliases",), {"mug": "cap"}), "aliases, mug: There is no concept “cap”. Did you mean cup or cat?"),
    (put(("aliases",), {"cup": "cat"}), "aliases, cup: This alias is the id of a concept. Take it out."),
    (put(("macros",), {"pet": ["cat", "dog"]}), "macros, pet: There is no concept “dog”. Write its row, or take the name out."),
    (put(("default_weather",), "rain"), "default_weather: There is no concept “rain”. Write its row, or take the name out."),
    # constraints
    (add("constraints", {"type": "at_most_one", "ids": ["cup"]}), "constraint 1 “C1”, ids: One concept excludes nothing. Name two or more."),
    (add("constraints", {"type": "excludes", "ids": ["cup"]}), "constraint 1 “C1”, other_ids: No concept is named. Name some."),
    (add("constraints", {"type": "excludes", "ids": ["cup"], "other_ids": ["cup", "cat"]}), "constraint 1 “C1”, other_ids: “cup” stands on both sides. A concept cannot exclude itself: keep it on one side."),
    (add("constraints", {"type": "requires_any", "if": ["cup"]}), "constraint 1 “C1”, any: No concept is named. Name some."),
    (add("constraints", {"type": "rule_must_match", "ids": ["cup", "cat"]}), "constraint 1 “C1”, ids: “ids” means nothing for rule_must_match. It reads no ids."),
    # driving and drawing
    (put(("kinematics",), KINEMATICS | {"brake_share": {"act": 1.0}}), "kinematics, brake_share: The answer “wait” has no share of braking. Write “wait: …”, from 0 (not at all) to 1 (as hard as possible)."),
    (put(("kinematics",), KINEMATICS | {"brake_share": {"act": 1.5, "wait": 0}}), "kinematics, brake_share: The share of “act” is 1.5. Write a number from 0 to 1."),
    (put(("kinematics",), KINEMATICS | {"brake_share": {"act": 1, "wait": 0, "go": 0}}), "kinematics, brake_share: “go” is no answer of this domain. Known: act, wait."),
    (put(("kinematics",), KINEMATICS | {"ego_speed_mps": -1}), "kinematics.ego_speed_mps: “-1” does not fit here: it should be greater than 0. Correct it."),
    (put(("distances_m",), {"near": [4, 2]}), "distances_m, near: The distance must be two numbers, the nearer first. Write [2, 4]."),
    (put(("draws_as",), "moon"), "draws_as: There is no built-in world “moon”. One of: driving, indoor; or leave it out and choose a picture source."),
    (put(("draws_as",), "driving"), "draws_as: The built-in world driving cannot draw “cup”, “knife”, “cat”. Take them out, or leave “draws_as” out and choose a picture source."),
    # sense
    (put(("rules",), [{"id": "sharp", "title": "Sharp", "when": {"has": ["knife"]}, "action": "act", "why": "x"}]), "rules: 3 valid sets have no rule that decides, such as “cup”. End the rules with one that has no condition, or add a rule for it."),
    (lambda c: c["rules"].reverse(), "rule 2 “sharp”: It decides no valid set. A rule above it always holds first: move it up, or take it out."),
    (lambda c: c["rules"].reverse(), "answer 1 “act”: No valid set expects this answer. Add a rule that expects it, or keep it as a wrong answer to choose."),
    (add("constraints", {"type": "requires_any", "if": ["cup", "knife", "cat"], "any": ["cat"]}, {"type": "excludes", "ids": ["cat"], "other_ids": ["cup"]}), "concept 1 “cup”: It is part of no valid set. Loosen the constraints that name it. “Cup” needs something else in the scene: It needs one of the others. Add one of them."),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message[:70] for _, message in WRONG])
def test_what_is_wrong_is_said_with_its_row_and_what_to_do(content, change, message):
    change(content)

    checked = check_content(content)

    assert message in said(checked)


def test_a_domain_of_which_no_set_is_valid_is_refused(content):
    add("constraints", {"type": "requires_any", "if": [], "any": ["cup"]})(content)
    add("constraints", {"type": "excludes", "ids": ["cup"], "other_ids": ["knife", "cat"]})(content)
    content["constraints"] += [{"type": "requires_any", "if": ["cup"], "any": ["cat"]}]

    checked = check_content(content)

    assert not checked.is_valid
    assert said(checked)[0].startswith("constraints: No set of concepts is valid. Loosen the constraints.")


def test_too_many_sets_are_refused_before_they_are_made(content):
    content["concepts"] = [{"id": f"thing_{number}"} for number in range(62)]
    content["rules"] = [{"id": "rest", "action": "wait"}]
    content["max_size"] = 8

    checked = check_content(content)

    assert said(checked) == [
        "max_size: There are more than 1,000,000 sets of up to 5 concepts. Lower the largest set, take concepts "
        "out, or say which of them exclude each other."
    ]


def test_warnings_do_not_keep_a_domain_from_being_used(content):
    content["rules"].reverse()

    checked = check_content(content)

    assert checked.is_valid
    assert [one.is_warning for one in checked.problems] == [True, True]


def test_best_fit_reads_no_places(content):
    content["decides_by"] = "best_fit"
    content["rules"][0]["when"] = {"no_adverse_weather": True}

    assert said(check_content(content)) == [
        "rule 1 “sharp”, when.no_adverse_weather: It is read only where the first rule decides. Name the "
        "concepts under “elements”, or set “decides_by: first”."
    ]


def test_the_built_in_world_keeps_its_kinds():
    content = built_in_content("driving")
    cone = next(row for row in content["concepts"] if row["id"] == "cone")
    cone["kind"] = "object"

    assert (
        "“cone”, kind: The built-in world driving draws it as entity. Write “kind: entity”."
        in said(check_content(content))[0]
    )


def test_markup_in_a_label_is_a_text_like_any_other(content):
    content["concepts"][0]["label"] = "<script>alert(1)</script>"

    assert check_content(content).domain.concept("cup").label == "<script>alert(1)</script>"


def test_a_file_is_written_in_yaml_or_json_only(content):
    with pytest.raises(ConceptError, match="There is no format “xml”"):
        write_domain_file(content, "xml")


def test_sets_of_all_sizes_together_are_limited(content):
    content["concepts"] += [{"id": f"thing_{number}"} for number in range(21)]
    content["max_size"] = 8

    checked = check_content(content)

    assert said(checked) == [
        "max_size: There are more than 1,000,000 sets of up to 8 concepts. Lower the largest set, take "
        "concepts out, or say which of them exclude each other."
    ]


@pytest.mark.parametrize(
    ("section", "names", "problem"),
    [
        ("aliases", {"z" * 61: "cup"}, f"aliases: “{'z' * 60}…” cannot be a name."),
        ("aliases", {"big: cup": "cup"}, "aliases: “big: cup” cannot be a name."),
        (
            "aliases",
            {f"cup_of_{number}": "cup" for number in range(301)},
            "aliases: There are 301. At most 300.",
        ),
        ("macros", {"a|b": ["cup"]}, "macros: “a|b” cannot be a name."),
        ("distances_m", {"": [0, 1]}, "distances_m: “” cannot be a name."),
        ("distances_m", {" near": [0, 1]}, "distances_m: “near” cannot be a name."),
    ],
)
def test_names_are_short_few_and_fit_the_fields_of_the_editor(content, section, names, problem):
    (found,) = said(check_content(content | {section: names}))

    assert found.startswith(problem)


def test_a_rule_names_at_most_sixteen_elements_and_one_constraint_asks_for_a_rule(content):
    content["decides_by"] = "best_fit"
    content["rules"][0]["when"] = {"elements": ["cup"] * 17}
    content["constraints"] = [{"id": name, "type": "rule_must_match"} for name in ("A", "B")]

    assert said(check_content(content)) == [
        "rule 1 “sharp”, when.elements: There are 17 elements. At most 16.",
        "constraint 2 “B”, type: Row 1 asks for a rule already. Take one of them out.",
    ]


def test_what_a_concept_changes_is_a_short_word(content):
    content["concepts"][2] |= {"kind": "modifier", "sets": {"distance": "d" * 41}}

    (found,) = said(check_content(content))

    assert found.startswith("concept 3 “cat”, sets.distance: “ddd")
