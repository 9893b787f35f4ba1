"""Whether every name in a domain file stands for something: ids, macros, answers, places, distances."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from vlmlab.core.scenes.anchors import PLACES
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, DomainFile, RuleRow, load_domain
from vlmlab.core.scenes.domain_problems import DomainProblem, did_you_mean, shown
from vlmlab.core.scenes.domain_rows import THING_KINDS
from vlmlab.core.scenes.domain_shape import row_name

LineOf = Callable[..., int | None]
CHANGED_BY_MODIFIERS = ("placement", "distance")
MAX_KEY = 255  # characters of a set's ids joined with "+", as a run stores them


class NameChecks:
    """Collects what is wrong with the names of one file.

    Args:
        file: the file, right in shape.
        line_of: path of keys and positions -> line of the text.
    """

    def __init__(self, file: DomainFile, line_of: LineOf) -> None:
        self.file, self.line_of = file, line_of
        self.problems: list[DomainProblem] = []
        self.ids = {row.id for row in file.concepts}

    def run(self) -> list[DomainProblem]:
        """Return every problem."""
        self._repeats()
        self._concepts()
        self._constraints()
        self._rules()
        self._mappings()
        self._kinematics()
        self._world()
        return self.problems

    def add(
        self,
        section: str,
        number: int | None,
        field: str,
        message: str,
        *,
        hint: str = "",
        is_warning: bool = False,
    ) -> None:
        """Note a problem of a row (counted from 0) or of a top-level key."""
        rows = getattr(self.file, section, ())
        if number is not None:
            row, path = (
                row_name(section, number, {"id": rows[number].id}),
                (section, number, *field.split(".")),
            )
        else:
            row, path = "" if field in ("", section) else section, (section, field)
        where = self.line_of(path)
        self.problems.append(
            DomainProblem(row, field, message, hint, line=where, section=section, is_warning=is_warning)
        )

    def _repeats(self) -> None:
        for section in ("concepts", "constraints", "rules", "actions"):
            rows: Sequence[object] = getattr(self.file, section)
            for name, wording in (("id", False), ("label", True)):
                seen: dict[str, int] = {}
                for number, row in enumerate(rows):
                    value = str(getattr(row, name, ""))
                    if value and value.casefold() in seen and (name == "id" or section != "rules"):
                        first = seen[value.casefold()] + 1
                        self.add(
                            section, number, name,
                            f"{shown(value)} is the {name} of row {first} already.",
                            hint="Give it another one.", is_warning=wording,
                        )  # fmt: skip
                    seen.setdefault(value.casefold(), number)

    def _concepts(self) -> None:
        for number, row in enumerate(self.file.concepts):
            self._known("concepts", number, "implies", row.implies)
            for attribute in row.sets:
                if attribute not in CHANGED_BY_MODIFIERS:
                    self.add(
                        "concepts", number, "sets", f"A modifier cannot change {shown(attribute)}.",
                        hint="It changes placement or distance.",
                    )  # fmt: skip
        longest = sorted((len(row.id) for row in self.file.concepts), reverse=True)[: self.file.max_size]
        if sum(longest) + len(longest) - 1 > MAX_KEY:
            self.add(
                "concepts", None, "", "The ids are too long for sets of this size.",
                hint=f"The {self.file.max_size} longest may have {MAX_KEY} characters together.",
            )  # fmt: skip

    def _constraints(self) -> None:
        for number, row in enumerate(self.file.constraints):
            parts = {"ids": row.ids, "other_ids": row.other_ids, "if": row.if_any, "any": row.any_of}
            for field, ids in parts.items():
                self._known("constraints", number, field, ids)
            wanted = {
                "at_most_one": ("ids",), "excludes": ("ids", "other_ids"),
                "requires_any": ("if", "any"), "rule_must_match": (),
            }[row.type]  # fmt: skip
            for field, ids in parts.items():
                if ids and field not in wanted:
                    self.add(
                        "constraints", number, field, f"“{field}” means nothing for {row.type}.",
                        hint=f"It reads {' and '.join(wanted)}." if wanted else "It reads no ids.",
                    )  # fmt: skip
                if not ids and field in wanted and field != "if":
                    self.add("constraints", number, field, "No concept is named.", hint="Name some.")
            if row.type == "at_most_one" and len(set(row.ids)) == 1:
                self.add(
                    "constraints", number, "ids", "One concept excludes nothing.", hint="Name two or more."
                )
            both = sorted(set(row.ids) & set(row.other_ids))
            if row.type == "excludes" and both:
                self.add(
                    "constraints", number, "other_ids", f"{shown(both[0])} stands on both sides.",
                    hint="A concept cannot exclude itself: keep it on one side.",
                )  # fmt: skip

    def _rules(self) -> None:
        actions = [row.id for row in self.file.actions]
        for number, row in enumerate(self.file.rules):
            if row.action not in actions:
                self.add(
                    "rules", number, "action", f"{shown(row.action)} is no answer of this domain.",
                    hint=did_you_mean(row.action, actions, otherwise=f"Known: {', '.join(actions)}."),
                )  # fmt: skip
            when = row.when
            for field in ("has", "has_any", "lacks"):
                self._known("rules", number, f"when.{field}", getattr(when, field))
            self._elements(number, row)
            clash = sorted(set(when.has) & set(when.lacks))
            if clash:
                self.add(
                    "rules", number, "when.lacks", f"{shown(clash[0])} must be there and must not.",
                    hint="Take it out of one of the two.",
                )  # fmt: skip
            self._entity(number, row)

    def _elements(self, number: int, row: RuleRow) -> None:
        for element in row.when.elements:
            if isinstance(element, str) and element.startswith("@"):
                if element[1:] not in self.file.macros:
                    self.add(
                        "rules", number, "when.elements", f"There is no macro {shown(element)}.",
                        hint=did_you_mean(element[1:], self.file.macros, otherwise="Write it in “macros”."),
                    )  # fmt: skip
                continue
            ids = (element,) if isinstance(element, str) else element
            self._known("rules", number, "when.elements", ids)
            if not ids:
                self.add("rules", number, "when.elements", "An element names nothing.", hint="Take it out.")

    def _entity(self, number: int, row: RuleRow) -> None:
        entity = row.when.any_entity
        if self.file.decides_by == "best_fit":
            for field in ("any_entity", "no_adverse_weather"):
                if getattr(row.when, field):
                    self.add(
                        "rules", number, f"when.{field}", "It is read only where the first rule decides.",
                        hint="Name the concepts under “elements”, or set “decides_by: first”.",
                    )  # fmt: skip
            return
        if entity is None:
            return
        for field, wanted in (("placement", (entity.placement,)), ("distance", entity.distance)):
            known = {str(getattr(one, field)) for one in self.file.concepts} - {""}
            known |= {one.sets[field] for one in self.file.concepts if field in one.sets}
            for value in wanted:
                if value not in known:
                    self.add(
                        "rules", number, f"when.any_entity.{field}",
                        f"No concept ever has the {field} {shown(value)}.",
                        hint=did_you_mean(value, known, otherwise=f"Give a concept this {field}."),
                    )  # fmt: skip

    def _mappings(self) -> None:
        for alias, target in self.file.aliases.items():
            self._known_names("aliases", alias, (target,))
            if alias in self.ids:
                self.add("aliases", None, alias, "This alias is the id of a concept.", hint="Take it out.")
        for macro, members in self.file.macros.items():
            self._known_names("macros", macro, members)
            if not members:
                self.add("macros", None, macro, "The macro names nothing.", hint="Name concepts.")
        if self.file.default_weather:
            self._known_names("default_weather", "default_weather", (self.file.default_weather,))
        for bucket, (low, high) in self.file.distances_m.items():
            if not 0 <= low <= high <= 10_000:
                self.add(
                    "distances_m", None, bucket, "The distance must be two numbers, the nearer first.",
                    hint="Write [2, 4].",
                )  # fmt: skip
        if self.file.kinematics or self.file.draws_as == "driving":
            self._distances()

    def _distances(self) -> None:
        used = {one.distance for one in self.file.concepts} | {
            one.sets["distance"] for one in self.file.concepts if "distance" in one.sets
        }
        used |= {
            bucket
            for row in self.file.rules
            if row.when.any_entity
            for bucket in row.when.any_entity.distance
        }
        if any(one.kind == "signal" for one in self.file.concepts):
            used |= {"junction"}
        for bucket in sorted(used - {""} - set(self.file.distances_m)):
            self.add(
                "distances_m", None, bucket, f"The distance {shown(bucket)} has no metres.",
                hint=f"Write “{bucket}: [nearest, farthest]”.",
            )  # fmt: skip

    def _kinematics(self) -> None:
        if self.file.kinematics is None:
            return
        actions = [row.id for row in self.file.actions]
        shares = self.file.kinematics.brake_share
        for action in actions:
            if action not in shares:
                self.add(
                    "kinematics", None, "brake_share", f"The answer {shown(action)} has no share of braking.",
                    hint=f"Write “{action}: …”, from 0 (not at all) to 1 (as hard as possible).",
                )  # fmt: skip
        for action, share in shares.items():
            if action not in actions:
                self.add(
                    "kinematics", None, "brake_share", f"{shown(action)} is no answer of this domain.",
                    hint=did_you_mean(action, actions, otherwise=f"Known: {', '.join(actions)}."),
                )  # fmt: skip
            elif not 0 <= share <= 1:
                self.add(
                    "kinematics", None, "brake_share", f"The share of {shown(action)} is {share:g}.",
                    hint="Write a number from 0 to 1.",
                )  # fmt: skip

    def _world(self) -> None:
        world = self.file.draws_as
        if not world:
            return
        if world not in DOMAIN_SLUGS:
            self.add(
                "draws_as", None, "draws_as", f"There is no built-in world {shown(world)}.",
                hint=f"One of: {', '.join(DOMAIN_SLUGS)}; or leave it out and choose a picture source.",
            )  # fmt: skip
            return
        drawn = load_domain(world)
        others = [row.id for row in self.file.concepts if row.id not in drawn.index]
        if others:
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            self.add(
                "draws_as", None, "draws_as",
                f"The built-in world {world} cannot draw {', '.join(map(shown, others[:5]))}{more}.",
                hint="Take them out, or leave “draws_as” out and choose a picture source.",
            )  # fmt: skip
        for number, row in enumerate(self.file.concepts):
            if row.id in drawn.index and drawn.concept(row.id).kind != row.kind:
                kind = drawn.concept(row.id).kind
                self.add(
                    "concepts", number, "kind", f"The built-in world {world} draws it as {kind}.",
                    hint=f"Write “kind: {kind}”.",
                )  # fmt: skip
        if world == "driving":
            self._places_on_road()

    def _places_on_road(self) -> None:
        """Note what would have no place on a road: things without a distance, and unknown placements."""
        hint = f"Write one of: {', '.join(PLACES)}."
        for number, row in enumerate(self.file.concepts):
            is_thing = row.kind in THING_KINDS
            if is_thing and not row.distance:
                self.add(
                    "concepts", number, "distance", "A thing on a road needs a distance.",
                    hint=f"Write one of: {', '.join(self.file.distances_m)}.",
                )  # fmt: skip
            if is_thing and row.placement not in PLACES:
                self.add("concepts", number, "placement", "It has no place on a road.", hint=hint)
            if row.sets.get("placement", "lane") not in PLACES:
                self.add("concepts", number, "sets", "It moves things to no place on a road.", hint=hint)

    def _known(self, section: str, number: int, field: str, ids: Iterable[str]) -> None:
        for message, hint in self._unknown(ids):
            self.add(section, number, field, message, hint=hint)

    def _known_names(self, section: str, key: str, ids: Iterable[str]) -> None:
        for message, hint in self._unknown(ids):
            self.add(section, None, key, message, hint=hint)

    def _unknown(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        names: Collection[str] = self.ids
        counts = Counter(ids)
        found = [
            (
                f"There is no concept {shown(one)}.",
                did_you_mean(one, names, otherwise="Write its row, or take the name out."),
            )
            for one in counts
            if one not in names
        ]
        twice = [one for one, count in counts.items() if count > 1]
        return found + [(f"{shown(one)} is named twice.", "Keep one of them.") for one in twice]
