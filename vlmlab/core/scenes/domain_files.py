"""Domain files: read and checked with every problem at once, and written as YAML or JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import domain_from
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.domain_defaults import completed, in_order
from vlmlab.core.scenes.domain_names import NameChecks
from vlmlab.core.scenes.domain_problems import DomainFileError, DomainProblem
from vlmlab.core.scenes.domain_sense import DomainSense, make_sense
from vlmlab.core.scenes.domain_shape import shape_problems
from vlmlab.core.scenes.domain_text import DomainText, read_text
from vlmlab.core.scenes.domain_texts import text_problems

MAX_PROBLEMS = 100
FILE_FORMATS = ("yaml", "json")


@dataclass(frozen=True)
class CheckedDomain:
    """What a domain file says and what is wrong with it.

    Attributes:
        content: everything that was read, what was left out filled in; empty where nothing could be read.
        domain: None while an error stands.
        sense: counts of sets and rules; None while an error stands before.
        problems: errors first, each in the order of the file.
    """

    content: dict[str, Any]
    domain: Domain | None
    sense: DomainSense | None
    problems: tuple[DomainProblem, ...]

    @property
    def errors(self) -> tuple[DomainProblem, ...]:
        """The problems that keep the file from being used."""
        return tuple(one for one in self.problems if not one.is_warning)

    @property
    def warnings(self) -> tuple[DomainProblem, ...]:
        """What looks wrong but works."""
        return tuple(one for one in self.problems if one.is_warning)

    @property
    def is_valid(self) -> bool:
        """Whether the domain can be used."""
        return self.domain is not None and not self.errors


def check_domain_file(source: str | bytes) -> CheckedDomain:
    """Return what a YAML or JSON text says as a domain, with every problem at once; it never raises."""
    try:
        text = read_text(source)
    except DomainFileError as error:
        return CheckedDomain({}, None, None, error.problems)
    return check_content(text.content, text)


def check_content(content: Mapping[str, Any], text: DomainText | None = None) -> CheckedDomain:
    """Return the check of parsed content; ``text`` knows the lines."""
    text = text or DomainText({})
    filled = completed(content)
    file, problems = shape_problems(filled, text)
    domain: Domain | None = None
    sense: DomainSense | None = None
    if file is not None:
        problems = [*text_problems(file, text.line_of), *NameChecks(file, text.line_of).run()]
        if all(one.is_warning for one in problems):
            domain = domain_from(filled)
            sense = make_sense(domain)
            problems += sense.problems
    problems.sort(key=lambda one: (one.is_warning, one.line or 0))
    return CheckedDomain(filled, domain, sense, tuple(problems[:MAX_PROBLEMS]))


def read_domain_file(source: str | bytes) -> CheckedDomain:
    """Return a valid domain file.

    Raises:
        DomainFileError: something is wrong with it; ``problems`` names everything.
    """
    checked = check_domain_file(source)
    if not checked.is_valid:
        raise DomainFileError(checked.errors)
    return checked


def write_domain_file(content: Mapping[str, Any], file_format: str = "yaml") -> str:
    """Return the text of a domain file; reading it again gives the same version.

    Raises:
        ConceptError: there is no such format.
    """
    ordered = in_order(content)
    if file_format == "json":
        return json.dumps(ordered, ensure_ascii=False, indent=2) + "\n"
    if file_format != "yaml":
        raise ConceptError(f"There is no format “{file_format}”.", hint="yaml or json.", field="format")
    return yaml.dump(ordered, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)


def example_text(name: str = "warehouse") -> str:
    """Return an example domain file, with its comments."""
    folder = resources.files("vlmlab.core.scenes.domains").joinpath("examples")
    return folder.joinpath(f"{name}.yaml").read_text(encoding="utf-8")


class _Dumper(yaml.SafeDumper):
    """Writes lists of ids on one line and never writes an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def one_line_list(self, data: Any) -> yaml.Node:
        is_flat = all(isinstance(one, (str, int, float)) for one in data)
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=is_flat)

    def block_text(self, data: str) -> yaml.Node:
        style = (
            "|" if "\n" in data.strip() and not any(row.endswith(" ") for row in data.split("\n")) else None
        )
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(list, _Dumper.one_line_list)
_Dumper.add_representer(tuple, _Dumper.one_line_list)
_Dumper.add_representer(str, _Dumper.block_text)
