"""Readings of replies to lettered questions: the shared cases, our own, and hostile text."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlmlab.core.replies.choices import parse_choice, reason_of

OPTIONS = {"A": "Stop", "B": "Slow down", "C": "Continue"}
CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "choice_cases.jsonl").read_text("utf-8").splitlines()
]
LETTERS = {True: "T", False: "F", None: None}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_parse_choice_reads_the_collected_case(case):
    reading = parse_choice(
        case["raw"],
        options=case["options"],
        n_statements=case["n_statements"],
        finish_reason=case["finish_reason"],
    )

    assert reading.status == case["expected_status"]
    assert reading.letter == case["expected_answer"]
    assert [LETTERS[verdict] for verdict in reading.statements] == (case["expected_tf"] or [])


ANSWERED = [
    ("b", "B"),
    ("(b)", "B"),
    ("B.", "B"),
    ("'B'", "B"),
    ("B!\n", "B"),
    ("Ｂ", "B"),
    ("<b>B</b>", "B"),
    ("~~A~~ B", "B"),
    ("b) slow down", "B"),
    ("B) Slow down", "B"),
    ("B - Slow down", "B"),
    ("A: Stop", "A"),
    ("A stop", "A"),
    ("Option B", "B"),
    ("B\nBecause a car is near.", "B"),
    ("B\nOption A would be too strict.", "B"),
    ("B, because the road is wet", "B"),
    ("B, because A is too weak", "B"),
    ("B is the safest", "B"),
    ("B.A car is near.", "B"),
    ("Answer: B (A is too weak)", "B"),
    ("B: not braking would end in a crash", "B"),
    ("A is wrong.\nB is right.", "B"),
    ("A. Wrong\nB. Right\n\nB", "B"),
    ("A because of the cone", "A"),
    ("C. The road is clear. A child is far away.", "C"),
    ("I would choose B.", "B"),
    ("I pick A.", "A"),
    ("Answer: Slow down", "B"),
    ("Answer: b", "B"),
    ("Answer B", "B"),
    ("Answer - B", "B"),
    ("Answer:\n\nB", "B"),
    ("Answer：Ｂ", "B"),
    ("**Answer:** B", "B"),
    ("**Answer: B. Slow down**", "B"),
    ("Final Answer: **(B) Slow down**", "B"),
    ("The safest action is B", "B"),
    ("The best option is C: Continue", "C"),
    ("So the answer should be (C) Continue.", "C"),
    ("answer is option C", "C"),
    ("B is the correct answer", "B"),
    ("A is not correct, so the answer is C", "C"),
    ("First I thought the answer is A, but the answer is C", "C"),
    ("Option A is too strict. Option C ignores the child. So option B.", "B"),
    ("Option B is right; option A is too much", "B"),
    ("A. Stop\nB. Slow down\nC. Continue\n\nB", "B"),
    ("选B", "B"),
    ("正确答案是(B)。", "B"),
    ("\\boxed{\\text{B}}", "B"),
    ("$\\boxed{B}$", "B"),
    ("<answer>B</answer>", "B"),
    ("<answer>A</answer> no: <answer>B</answer>", "B"),
    ("<think>A?</think><answer>(C)</answer><|im_end|>", "C"),
    ("the answer is A, I think</think>B", "B"),
    ("◁think▷A◁/think▷B", "B"),
    ("<|begin_of_box|>B<|end_of_box|>", "B"),
    ('```json\n{"answer": "B", "reason": "A car"}\n```', "B"),
    ("{'answer': 'B'}", "B"),
    ('{"answer": "B", "reason": "A car is', "B"),
    ('{"answer": ["B"]}', "B"),
    ('{"Final Answer": "B. Slow down"}', "B"),
    ('{"reason": "the answer is A at first", "answer": "C"}', "C"),
    ("Reason: The road is wet.\nAnswer: B", "B"),
]
INVALID = [
    ("", "no_output"),
    (" \n<|im_end|></s>", "no_output"),
    ("D", "no_choice"),
    ("Answer: D", "no_choice"),
    ('{"answer": "D"}', "no_choice"),
    ('{"answer": "A or B"}', "no_choice"),
    ('{"answer": null, "note": "Answer: B"}', "no_choice"),
    ("The answer is not A", "no_choice"),
    ("The answer is A or B", "several_letters"),
    ("Answer: A, B, or C", "several_letters"),
    ("Answer: A/B", "several_letters"),
    ("A/B", "no_choice"),
    ("C is not the correct answer.", "no_choice"),
    ("A is incorrect. B is incorrect. C", "no_choice"),
    ("A isn't enough here.", "no_choice"),
    ("B) is too harsh", "no_choice"),
    ("A is the wrong choice. The right one is B.", "no_choice"),
    ("(A)(B)", "no_choice"),
    ("A.B.C", "no_choice"),
    ("Answer: (A) (C)", "several_letters"),
    ("A: wrong. C", "no_choice"),
    ("I must choose between Option B and Option C", "several_letters"),
    ("Option B vs Option C", "several_letters"),
    ("Weighing option A against option C", "several_letters"),
    ("A\nB\nC", "several_letters"),
    ("C\n\nA", "several_letters"),
    ("A. Stop\nB. Slow down\nC. Continue", "several_letters"),
    ("Stop\nSlow down\nContinue", "several_letters"),
    ("Answer: A cyclist is ahead", "no_choice"),
    ("answer: a car", "no_choice"),
    ("Answer: A slow down", "no_choice"),
    ("A car is ahead", "no_choice"),
    ("A-pillar blocks the view", "no_choice"),
    ("The vehicle should stop.", "no_choice"),
    ("I cannot help with that.", "no_choice"),
    ("Answer: $LETTER", "no_choice"),
    ("<think>so the answer is B", "unfinished_thinking"),
    ("<think>x</think>B<think>Answer: A", "unfinished_thinking"),
]


@pytest.mark.parametrize(("raw", "letter"), ANSWERED)
def test_parse_choice_reads_the_letter(raw, letter):
    assert parse_choice(raw, options=OPTIONS).letter == letter


@pytest.mark.parametrize(
    ("raw", "finish_reason", "letter"),
    [
        ("I think we should consider option C", "stop", "C"),
        ("I think we should consider option C", "length", None),
        ("The child is close, so option C would be", "length", None),
        ("Answer: C, because the child", "length", "C"),
        ("C. Continue, because", "length", "C"),
    ],
)
def test_parse_choice_takes_no_mere_mention_of_a_reply_that_was_cut(raw, finish_reason, letter):
    assert parse_choice(raw, options=OPTIONS, finish_reason=finish_reason).letter == letter


@pytest.mark.parametrize(("raw", "reason"), INVALID)
def test_parse_choice_refuses_to_guess(raw, reason):
    reading = parse_choice(raw, options=OPTIONS)

    assert (reading.status, reading.letter, reading.reason) == ("invalid", None, reason)


STATEMENTS = [
    ("1. T\n2. F\nB", [True, False], "B"),
    ("1) True\n2) false\nAnswer: C", [True, False], "C"),
    ("Statement 1: True\nStatement 2: False\n\nB", [True, False], "B"),
    ("S1: T\nS2: F\nB", [True, False], "B"),
    ("(1) T, (2) F\nB", [True, False], "B"),
    ("1. **T**\n2. **F**\n**B**", [True, False], "B"),
    ("1: T 2: F Answer: B", [True, False], "B"),
    ("2. F\n1. T\nB", [True, False], "B"),
    ("1. A cyclist is ahead: T\n2. The road is wet: F\nB", [True, False], "B"),
    ("1. T\nB", [True, None], "B"),
    ("1. T\n1. F\n2. T\nB", [None, True], "B"),
    ("1. T/F\n2. T\nB", [None, True], "B"),
    ("T\nF\nB", [True, False], "B"),
    ("TF\nB", [True, False], "B"),
    ("[T, F]\nB", [True, False], "B"),
    ("T, F, T\nB", [None, None], "B"),
    ("T\nB", [None, None], "B"),
    ("3. T\nB", [None, None], "B"),
    ("1. T\n2. F", [True, False], None),
    ('{"statements": ["T", "F"], "answer": "B"}', [True, False], "B"),
    ('{"1": true, "2": false, "answer": "B"}', [True, False], "B"),
    ("B", [None, None], "B"),
    ("<think>1. T", [None, None], None),
]


@pytest.mark.parametrize(("raw", "verdicts", "letter"), STATEMENTS)
def test_parse_choice_reads_statements_by_number_or_by_order(raw, verdicts, letter):
    reading = parse_choice(raw, options=OPTIONS, n_statements=2)

    assert (reading.statements, reading.letter) == (verdicts, letter)


def test_parse_choice_keeps_option_t_or_f_apart_from_statements():
    options = dict.fromkeys("ABCDEF", "")

    assert parse_choice("F", options=options).letter == "F"
    assert parse_choice("1. T\nF", options=options, n_statements=1).letter == "F"


def test_parse_choice_takes_letters_without_texts():
    assert parse_choice("Answer: B", options="ABC").letter == "B"
    assert parse_choice("Answer: B", options=["A", "C"]).letter is None


@pytest.mark.parametrize(
    ("finish_reason", "reason"), [("refusal", "refusal"), ("safety", "safety"), ("length", "truncated")]
)
def test_parse_choice_names_how_the_text_ended(finish_reason, reason):
    reading = parse_choice("The picture shows", options=OPTIONS, finish_reason=finish_reason)

    assert reading.reason == reason


def test_parse_choice_reads_a_letter_from_a_reason_cut_by_length():
    assert parse_choice("B\nThe road", options=OPTIONS, finish_reason="length").letter == "B"


def test_parse_choice_rejects_arguments_that_break_the_contract():
    with pytest.raises(ValueError, match="options"):
        parse_choice("B", options={})
    with pytest.raises(ValueError, match="n_statements"):
        parse_choice("B", options=OPTIONS, n_statements=-1)


REASONS = [
    ("B\nReason: The cyclist is near. And so on.", "The cyclist is near."),
    ("B. Slow down. The road is wet.", "The road is wet."),
    ("Answer: B because a car moves.", "because a car moves."),
    ("A - A pedestrian is on the road, so stop.", "A pedestrian is on the road, so stop."),
    ("Answer: A\nA child stands on the road.", "A child stands on the road."),
    ('{"answer": "B", "reason": "A car."}', "A car."),
    ('{"answer": "B"}', ""),
    ("B", ""),
    ("Slow down", ""),
    ("<think>because", ""),
]


@pytest.mark.parametrize(("raw", "sentence"), REASONS)
def test_reason_of_quotes_the_first_sentence_beside_the_letter(raw, sentence):
    assert reason_of(raw, options=OPTIONS) == sentence


def test_reason_of_shortens_a_long_sentence():
    assert reason_of("B\n" + "x" * 900, options=OPTIONS, max_length=50) == "x" * 49 + "…"


PIECES = [
    "Answer:", " is ", "option ", "A", "B", "C", "D", "(", ")", "[", "{", '"answer"', ":", ",", " or ", "\n",
    "*",
    "$", "<think>", "</think>", "<answer>", "\\boxed{", "1. T", "2. F", "T", "Stop", "Slow down", "答案",
    "\u0301", "ﷺ", "~~",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=30).map("".join)),
    st.integers(0, 3),
)
def test_parse_choice_never_raises_and_never_leaves_the_option_set(raw, n_statements):
    reading = parse_choice(raw, options=OPTIONS, n_statements=n_statements)

    assert reading.letter in {None, *OPTIONS}
    assert (reading.letter is None) == (reading.status == "invalid") == bool(reading.reason)
    assert len(reading.statements) == n_statements
    assert isinstance(reason_of(raw, options=OPTIONS), str)


@settings(max_examples=60, deadline=None)
@given(
    st.permutations(["A", "B", "C"]),
    st.sampled_from(["{0}", "Answer: {0}", "({0}) {1}", "{0}. {1}", "{1}", "**{0}**"]),
)
def test_parse_choice_follows_a_permutation_of_the_options(order, form):
    options = dict(zip(order, OPTIONS.values(), strict=True))

    readings = [
        parse_choice(form.format(letter, text), options=options).letter for letter, text in options.items()
    ]

    assert readings == order


HOSTILE = [
    *[
        "A",
        " ",
        "\n",
        "(",
        "{",
        "[",
        '"',
        "answer ",
        "Answer:",
        "option A",
        "the final ",
        "<think>",
        "</think>",
        "1. T ",
    ],
    *[
        "\u0301",
        "ﷺ",
        "T",
        "T,",
        "~~",
        "\\boxed{",
        "<answer>",
        "A or ",
        "*",
        "\\text{",
        "1. ",
        "not option A",
        "B. x\n",
    ],
    *["<|", '{"answer":', "A is ", "Ａ", "# ", "答案"],
]


def _seconds(raw, n_statements):
    start = time.process_time()
    parse_choice(raw, options=OPTIONS, n_statements=n_statements)
    reason_of(raw, options=OPTIONS)
    return time.process_time() - start


@pytest.mark.parametrize("n_statements", [0, 4])
@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("length", [60_000, 1_000_000])
def test_parse_choice_stays_fast_on_hostile_text(piece, length, n_statements):
    raw = piece * (length // len(piece))

    # A reader that looks back would need minutes; another try only for what else the machine does.
    assert any(_seconds(raw, n_statements) < 1.0 for _ in range(3))


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("Statement 1 is true. Statement 2 is false.\nAnswer: B", [True, False]),
        ("1 is true, 2 is false.\nB", [True, False]),
        ("1. True or false: false\n2. T\nB", [False, True]),
        ("1. T / F: F\n2. T\nB", [False, True]),
        ("Statement 1 is clearly true while statement 2 is false\nB", [None, None]),
        ("1 and 3 are true; 2 is false\nB", [None, None]),
    ],
)
def test_parse_choice_never_gives_a_statement_the_verdict_of_another(text, verdicts):
    reading = parse_choice(text, options=OPTIONS, n_statements=2)

    assert (reading.letter, reading.statements) == ("B", verdicts)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B<|im_end|>\n<|im_start|>user\nNext<|im_end|>\n<|im_start|>assistant\nAnswer: C", "B"),
        ("Answer: B</s>Human: and now?\nAnswer: C", "B"),
        ("I cannot say.<|endoftext|>Answer: C", None),
        ("<|channel|>analysis<|message|>Answer: C<|end|><|start|>assistant<|channel|>final<|message|>B", "B"),
        ("<|channel|>analysis<|message|>Answer: C", None),
        ("<s>Answer: B</s>", "B"),
        ("Answer: <s>A</s> B", None),  # struck out or not: nobody can tell
    ],
)
def test_parse_choice_reads_the_first_turn_only(text, letter):
    assert parse_choice(text, options=["A", "B", "C"]).letter == letter
