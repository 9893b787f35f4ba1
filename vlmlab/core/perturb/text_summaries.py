"""What each operator on prompts does, in one sentence for people."""

from collections.abc import Mapping

TEXT_SUMMARIES: Mapping[str, str] = {
    "synonym": "A label gives way to another name of the same thing.",
    "homophone": "A label gives way to words that sound like it.",
    "word_order": "Neighbouring words change places.",
    "filler": "Words such as “um” and “well” come before words.",
    "politeness": "Requests are made kindly, and courtesies are put between sentences.",
    "irrelevant_context": "Sentences that have nothing to do with the question are put in.",
    "distractor_instruction": "Sentences that ask for something else are put in.",
    "char_swap": "Two neighbouring letters of a word change places.",
    "char_delete": "A word loses a letter.",
    "char_insert": "A word gets a letter more.",
    "char_repeat": "A letter of a word is typed twice.",
    "keyboard_typo": "A letter gives way to one beside it on the keyboard.",
    "casing": "Capitals and small letters of a word change.",
    "punctuation": "Marks after words are left out, put in, doubled or changed.",
    "ocr_confusion": "Letters give way to signs that a scanner takes them for.",
}
