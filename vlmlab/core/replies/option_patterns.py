"""The patterns that recognise the letters and texts of one option set, compiled once for each set."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_NOUN = r"(?:answer|choice|option|letter|response|solution|decision|action)"
_BEFORE_NOUN = r"(?:my |the |final |correct |right |best |safest |chosen |selected |appropriate ){0,4}"
_LINK = (
    r"[\"']?(?: ?\(letter\))? ?(?:\b(?:is|was|would be|should be|must be|will be)\b ?[:=]?"
    r"|[:=]|->|=>|→|⇒|[–—-] )"
    r"[\s\"'“]{0,3}(?:(?:therefore|thus|clearly|definitely|most likely|simply|likely) )?"
)
_PICK_VERBS = (
    r"\b(?:choose|chose|select|selected|pick|picked|go with|going with|opt for|vote for|answer with)"
    r"\b[: ]"
)
_CHINESE = (
    r"(?:答案|正确答案|最终答案|正确选项|选项|我选|选择|应选|故选|选)[ ]?(?:应该是|应为|是|为|:|选)?\s?"
)
_RIGHT = (
    r" (?:is|seems|would be|must be) (?:the |my |a )?(?:final |most |single )?"
    r"(?:correct|right|best|safest|appropriate|proper|answer|choice|option)\b"
)
_OPEN, _CLOSE = r"[(\[{<\"'“‘「【]{0,3}", r"[)\]}>\"'”’」】]{0,3}"
_GO_ON = (
    r"(?:because|since|as|due|for|given|so|with|is|was|in|to|instead|rather|but|not|when|while|based|and|or|by|if|on|"
    r"would|should|,)"
)
_AGAINST = (
    r"\b(?:wrong|incorrect|not|too|never|isn't|cannot|can't|ignores?|unsafe|dangerous|unnecessary|risky|inadequate|"
    r"excessive|insufficient)\b"
)
_DISMISSED = re.compile(
    r"(?i:[ .:)\]—–-]{0,4}(?:(?:is|was|seems|looks|would be) "
    r"(?:also |clearly |simply |definitely )?(?:the |an? )?"
    r"(?:not|never|wrong|incorrect|unsafe|dangerous|inadequate|insufficient|excessive|too)\b"
    r"|(?:isn't|isn’t|wasn't|wasn’t|cannot be|can't be|can’t be)\b|(?:wrong|incorrect)(?:$|[.,;!])))"
)
_NEGATED = re.compile(
    r"(?:\bnot|\bnever|\bthan|\bover|\binstead of|\brather than|\bruled? out|\breject|n't|不)[ :]?$"
)
_OUTER = "()[]{}<>\"'“”‘’「」【】.,:;!?。,- "


class OptionPatterns:
    """Readers for one set of options.

    Args:
        letters: the allowed letters, in the order shown.
        texts: letter -> text shown, may be empty.
    """

    def __init__(self, letters: Sequence[str], texts: Mapping[str, str]) -> None:
        self._letters = tuple(letters)
        self._by_fold = {_folded(letter): letter for letter in letters}
        folded = [(_folded(text), letter) for letter, text in texts.items() if _folded(text)]
        self._by_text = {text: letter for text, letter in folded if [t for t, _ in folded].count(text) == 1}
        one = "|".join(re.escape(letter) for letter in sorted(letters, key=len, reverse=True))
        end = r"(?![A-Za-z0-9_'’]|-[A-Za-z])"
        letter = rf"(?P<open>{_OPEN})(?<![A-Za-z0-9_])(?P<letter>{one}){end}(?P<close>{_CLOSE})"
        noun = rf"(?:{_BEFORE_NOUN}{_NOUN} )?"
        self._markers = tuple(
            re.compile(pattern)
            for pattern in (
                rf"(?i:\b{_NOUN}\b{_LINK}{noun}){letter}",
                rf"(?i:{_PICK_VERBS}{noun}){letter}",
                rf"(?i:\\boxed ?)\{{ ?{letter}",
                rf"{_CHINESE}{letter}",
                rf"(?<![A-Za-z0-9_]){letter}(?i:{_RIGHT})",
            )
        )
        self._text_marker = re.compile(
            rf"(?i:\b{_NOUN}\b{_LINK}|\\boxed ?\{{|{_CHINESE})(?P<line>[^\n]{{1,300}})"
        )
        self._line_start = re.compile(
            rf"(?:(?i:option|choice|letter|answer) )?(?P<open>{_OPEN})(?P<letter>{one}){end}"
            rf"(?P<close>{_CLOSE})(?P<rest>.*)$"
        )
        self._any_case_line = re.compile(
            rf"(?P<open>{_OPEN})(?P<letter>(?i:{one})){end}(?P<close>{_CLOSE}) ?[.):,-]? ?(?P<rest>.*)$"
        )
        self._mention = re.compile(
            rf"(?i:\b(?:option|choice|letter|answer)) {letter}(?=(?P<rest>[^\n.;]{{0,120}}))"
        )
        self._joined = re.compile(rf" ?[(\[](?:{one})[)\]]|[.;|+](?:{one}){end}(?! ?[a-z])")
        self._another = re.compile(
            rf" ?(?:/|&|,? ?(?:or|and|versus|vs\.?)\b|,) ?(?i:{noun}){_OPEN}(?:{one}){end}{_CLOSE}"
            r"(?P<more>[^\n]{0,12})"
        )

    def last_marker(self, text: str) -> str | None:
        """Return the letter of the last explicit marker, "" when it names several, None without one."""
        found: list[tuple[int, str]] = []
        for pattern in self._markers:
            for match in pattern.finditer(text):
                if self._is_article(match, text) or _NEGATED.search(
                    text[max(0, match.start() - 16) : match.start()]
                ):
                    continue
                several = self._names_another(text, match.end())
                found.append((match.start("letter"), "" if several else match.group("letter")))
        for match in self._text_marker.finditer(text):
            letter = self.letter_of_fragment(match.group("line"))
            if letter is not None:
                found.append((match.start("line"), letter))
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def letter_of_fragment(self, fragment: str) -> str | None:
        """Read a short piece such as ``B``, ``(b)``, ``B. Slow down`` or an option's text."""
        fragment = fragment.strip()
        bare = _folded(fragment)
        if bare in self._by_fold:
            return self._by_fold[bare]
        if bare in self._by_text:
            return self._by_text[bare]
        match = self._any_case_line.match(fragment)
        if match is None:
            return None
        letter = self._by_fold[_folded(match.group("letter"))]
        rest = _folded(match.group("rest"))
        if self._by_text.get(rest) == letter:
            return letter
        return letter if self._starts_an_answer(fragment) == letter else None

    def letter_lines(self, lines: Sequence[str]) -> set[str]:
        """Return the letters that stand alone on a line; lower case only as the whole reply."""
        found = set()
        for line in lines:
            match = self._line_start.match(line)
            if match and not match.group("rest").strip(_OUTER):
                found.add(match.group("letter"))
        if not found and len(lines) == 1 and _folded(lines[0]) in self._by_fold:
            found.add(self._by_fold[_folded(lines[0])])
        return found

    def letters_with_text(self, lines: Sequence[str]) -> set[str]:
        """Return the letters that open a line like ``B. text``, ``(B) text`` or ``B, because``."""
        opened = (self._starts_an_answer(line) for line in lines)
        found = {letter for letter in opened if letter is not None}
        if not found and len(lines) == 1:
            letter = self.letter_of_fragment(lines[0])
            if letter is not None and _folded(lines[0]) not in self._by_text:
                found.add(letter)
        return found

    def mentions(self, text: str) -> set[str]:
        """Return the letters that "option X" asserts; those it argues against are left out."""
        asserted: list[str] = []
        discussed: list[tuple[str, bool]] = []
        for match in self._mention.finditer(text):
            before, rest = text[max(0, match.start() - 16) : match.start()], match.group("rest")
            if self._names_another(text, match.end("close")):
                return set(self._letters)
            if _NEGATED.search(before):
                continue
            is_closed = not rest.strip(_OUTER) or rest.lstrip().startswith(
                (",", ":", "(", "because", "since")
            )
            if is_closed:
                asserted.append(match.group("letter"))
            else:
                discussed.append((match.group("letter"), bool(re.search(_AGAINST, rest))))
        if asserted:
            weighed = {letter for letter, against in discussed if not against}
            return set(asserted) | weighed
        letters = {letter for letter, _ in discussed}
        argued_against = any(against for _, against in discussed)
        return letters if len(letters) > 1 or not argued_against else set()

    def text_lines(self, lines: Sequence[str]) -> set[str]:
        """Return the letters whose option text is exactly one line."""
        return {self._by_text[_folded(line)] for line in lines if _folded(line) in self._by_text}

    def without_answer(self, text: str) -> str:
        """Return the text without the letter, its marker and its option text, for quoting a reason."""
        kept = []
        for line in text.split("\n"):
            line = re.sub(r"^(?i:reason|explanation|because|rationale) ?[:.-] ?", "", line.strip())
            marker = re.match(rf"(?i:{_BEFORE_NOUN}{_NOUN}{_LINK})", line)
            if marker and self._line_start.match(line[marker.end() :]):
                line = line[marker.end() :]
            start = self._line_start.match(line)
            if start and (self._starts_an_answer(line) or not start.group("rest").strip(_OUTER)):
                line = start.group("rest").lstrip(_OUTER)
            for option, letter in self._by_text.items():
                if start and start.group("letter") == letter and _folded(line[: len(option)]) == option:
                    line = line[len(option) :].lstrip(_OUTER)
            line = re.sub(r"^(?i:reason|explanation|rationale) ?[:.-] ?", "", line)
            if _folded(line) not in self._by_text and line.strip(_OUTER):
                kept.append(line.strip())
        return "\n".join(kept)

    def _starts_an_answer(self, line: str) -> str | None:
        """Return the letter that opens a line; None for an article, one of several, or one argued against."""
        match = self._line_start.match(line)
        if match is None or self._names_another(line, match.end("close")):
            return None
        rest = match.group("rest")
        is_bracketed = bool(match.group("open").strip("\"'“‘") and match.group("close").strip("\"'”’"))
        has_separator = bool(re.match(r" ?[.:)]|\)| ?[—–-] |,", rest)) or ")" in match.group("close")
        goes_on = re.match(rf" {_GO_ON}\b", rest)
        names_text = self._opens_with_text(rest, match.group("letter"))
        if _DISMISSED.match(rest) and not names_text:
            return None
        is_option = line[:1].lower() in "ocla" and line[: match.start("letter")].strip(_OUTER) != ""
        if is_option and not has_separator and not names_text:
            return None
        return match.group("letter") if is_bracketed or has_separator or goes_on or names_text else None

    def _opens_with_text(self, rest: str, letter: str) -> bool:
        folded = _folded(rest[:400])
        return any(
            owner == letter
            and (folded == text or folded.startswith(text + " ") or folded.startswith(text + "."))
            for text, owner in self._by_text.items()
        )

    def _names_another(self, text: str, position: int) -> bool:
        """Whether a list of letters goes on at ``position``, as in "A or C", "A, B" or "(A)(B)"."""
        if self._joined.match(text, position):
            return True
        match = self._another.match(text, position)
        if match is None:
            return False
        is_comma = match.group(0).lstrip().startswith(",") and not re.match(
            r" ?, ?(?:or|and)\b", match.group(0)
        )
        return not is_comma or bool(re.match(r" ?(?:$|[.;,)/&]|or\b|and\b)", match.group("more")))

    def _is_article(self, match: re.Match[str], text: str) -> bool:
        """Whether a bare ``A`` (or ``I``) is the first word of a phrase rather than a letter."""
        if match.group("letter") not in ("A", "I") or match.group("open") or match.group("close"):
            return False
        rest = text[match.end("letter") : match.end("letter") + 400]
        if not re.match(r" [A-Za-z]", rest) or self._opens_with_text(rest, match.group("letter")):
            return False
        return re.match(rf" {_GO_ON}\b", rest) is None


def _folded(text: str) -> str:
    """Return the text in lower case, single blanks, without outer brackets and punctuation."""
    return " ".join(text.casefold().split()).strip(_OUTER)


@lru_cache(maxsize=256)
def _compiled(pairs: tuple[tuple[str, str], ...]) -> OptionPatterns:
    return OptionPatterns([letter for letter, _ in pairs], {letter: text for letter, text in pairs if text})


def patterns_for(options: Mapping[str, str] | Sequence[str]) -> OptionPatterns:
    """Return the compiled patterns of an option set.

    Raises:
        ValueError: no option, or an empty letter.
    """
    pairs = (
        tuple(options.items()) if isinstance(options, Mapping) else tuple((letter, "") for letter in options)
    )
    if not pairs or not all(letter for letter, _ in pairs):
        raise ValueError("options must hold at least one letter, and no empty one")
    return _compiled(pairs)
