"""Names and links of participants."""

import hmac
from hashlib import sha256
from uuid import UUID

import pytest

from humanstudy.enums import Instrument
from humanstudy.models import Study
from humanstudy.services.pseudonyms import (
    BadLinkError,
    check_token,
    code_of,
    link_token,
    new_code,
    pseudonym,
    study_key,
)


def study(number=1):
    return Study(name="A study", slug="a-study", uuid=UUID(int=number), instrument=Instrument.LOCALIZATION)


def test_a_pseudonym_is_the_hmac_of_platform_and_id_under_the_study_key(settings):
    settings.STUDY_KEY = "a key"
    key = hmac.new(b"a key", b"study|" + b"0" * 31 + b"1", sha256).digest()

    name = pseudonym(study(), platform="prolific", person="5f1e")

    assert study_key(study()) == key
    assert name == hmac.new(key, b"person|prolific|5f1e", sha256).hexdigest()


def test_a_person_has_other_names_in_another_study_on_another_platform_and_under_another_key(settings):
    names = {
        pseudonym(study(), platform="prolific", person="5f1e"),
        pseudonym(study(2), platform="prolific", person="5f1e"),
        pseudonym(study(), platform="mturk", person="5f1e"),
    }
    settings.STUDY_KEY = "another key"
    names.add(pseudonym(study(), platform="prolific", person="5f1e"))

    assert len(names) == 4


def test_nobody_has_no_pseudonym():
    with pytest.raises(ValueError, match="person must not be empty"):
        pseudonym(study(), platform="link", person="")


def test_a_link_holds_its_code_and_is_taken_for_its_study_and_purpose_alone():
    code = new_code()
    token = link_token(study(), code, purpose="participant")

    assert code_of(token) == code
    assert check_token(study(), token, purpose="participant") is None
    for other, purpose in ((study(2), "participant"), (study(), "invitation")):
        with pytest.raises(BadLinkError):
            check_token(other, token, purpose=purpose)


@pytest.mark.parametrize("change", [lambda token: token[:-1] + ("0" if token[-1] != "0" else "1"), str.upper])
def test_a_changed_link_is_refused(change):
    token = link_token(study(), "abcdefabcdefabcd", purpose="participant")

    with pytest.raises(BadLinkError):
        check_token(study(), change(token), purpose="participant")


@pytest.mark.parametrize("token", ["", "abc", "a" * 47, "a" * 49, "/" * 48, "é" * 48])
def test_what_has_not_the_shape_of_a_link_is_called_incomplete(token):
    with pytest.raises(BadLinkError, match="not complete"):
        code_of(token)


def test_codes_do_not_repeat():
    assert len({new_code() for _ in range(200)}) == 200
