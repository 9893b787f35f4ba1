"""Follow-ups of test cases from a shell: cases, or a modality campaign, chosen by number."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from searches.enums import MODALITY_METHOD
from searches.models import Campaign, ModalityCase
from searches.services.case_choices import DEFAULT_MOST, dealt, named_cases, transferable
from searches.services.case_wishes import confirm_cases_wish, transfer_cases_wish
from searches.services.follow_ups import FollowUpWish
from searches.services.shell_suts import find_sut
from vlmlab.core.errors import ConfigError
from vlmlab.web.asked import LARGEST, asked_number

TRUE_WORDS, FALSE_WORDS = frozenset({"true", "yes", "1", "on"}), frozenset({"false", "no", "0", "off"})


class ShellCases(Protocol):
    """What somebody at a shell says about test cases."""

    @property
    def campaigns(self) -> Sequence[int]:
        """Numbers of campaigns."""
        ...

    @property
    def cases(self) -> Sequence[int]:
        """Numbers of test cases."""
        ...

    @property
    def suts(self) -> Sequence[str]:
        """Short names of the systems asked, for a transfer."""
        ...

    @property
    def params(self) -> Mapping[str, str]:
        """Settings by name; ``most``, ``draws`` and ``random`` say how much is asked."""
        ...

    @property
    def name(self) -> str:
        """Name of the follow-up, "" for one that says what is done."""
        ...


def is_about_cases(wish: ShellCases) -> bool:
    """Return whether test cases are chosen, or a modality campaign."""
    if wish.cases:
        return True
    known = [number for number in wish.campaigns if 0 <= number <= LARGEST]
    return Campaign.objects.filter(pk__in=known, method=MODALITY_METHOD).exists()


def confirm_cases(wish: ShellCases) -> FollowUpWish:
    """Return the wish to confirm cases.

    Raises:
        VlmLabError: see ``confirm_cases_wish``, or a number is unknown.
    """
    params = dict(wish.params)
    most = whole_number(params, "most", DEFAULT_MOST)
    if wish.cases:
        return confirm_cases_wish(_cases(wish), values=params, name=wish.name)
    return confirm_cases_wish(_campaign(wish), most=most, values=params, name=wish.name)


def transfer_cases(wish: ShellCases) -> FollowUpWish:
    """Return the wish to show cases to other systems.

    Raises:
        VlmLabError: see ``transfer_cases_wish``, or a number or system is unknown.
    """
    params = dict(wish.params)
    most, draws = whole_number(params, "most", DEFAULT_MOST), whole_number(params, "draws", 0)
    has_random = _truth(params, "random", default=True)
    targets = [find_sut(slug) for slug in wish.suts]
    cases = _cases(wish) if wish.cases else dealt(transferable(_campaign(wish)), most)
    return transfer_cases_wish(
        cases, targets, draws=draws, has_random=has_random, values=params, name=wish.name
    )


def _cases(wish: ShellCases) -> list[ModalityCase]:
    return named_cases([str(number) for number in wish.cases])


def _campaign(wish: ShellCases) -> Campaign:
    """Return the one campaign that is named.

    Raises:
        ConfigError: it is not one modality campaign.
    """
    found = list(Campaign.objects.filter(pk__in=wish.campaigns, method=MODALITY_METHOD))
    if len(found) != 1 or len(set(wish.campaigns)) != 1:
        raise ConfigError(
            "Give the number of one modality campaign.", hint="Such as --campaign 3.", field="campaign"
        )
    return found[0]


def whole_number(params: dict[str, str], name: str, default: int) -> int:
    """Take a whole number out of settings.

    Raises:
        ConfigError: it is none.
    """
    text = params.pop(name, str(default))
    number = asked_number(text)
    if number is None:
        raise ConfigError(f"{name} must be a whole number, not “{text[:40]}”.", field=name)
    return number


def _truth(params: dict[str, str], name: str, *, default: bool) -> bool:
    """Take true or false out of settings.

    Raises:
        ConfigError: it is neither.
    """
    text = params.pop(name, "true" if default else "false").lower()
    if text not in TRUE_WORDS | FALSE_WORDS:
        raise ConfigError(f"{name} must be true or false, not “{text}”.", field=name)
    return text in TRUE_WORDS
