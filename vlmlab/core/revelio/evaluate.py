"""From a query to a scene and a question, and from a reply to a verdict with everything a finding shows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from vlmlab.core.errors import GenerationError, SourceAwayError
from vlmlab.core.replies.choices import parse_choice, reason_of
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.types import Query, Verdict
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.kinematics import CollisionVerdict, collision_verdict, nearest_lane_distance
from vlmlab.core.scenes.questions import Question, ask_question
from vlmlab.core.scenes.recognition import Statement, ask_with_statements
from vlmlab.core.scenes.scene import GeneratedScene, SceneDescription, SceneSource
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.base import FinishReason, SutReply


@dataclass(frozen=True)
class PreparedSample:
    """Everything about a sample before the system under test sees it.

    Attributes:
        scene: None when it could not be made; then ``generation_error`` says why.
        expected_action: id of the right action.
        rule_id: the rule that gave it.
        asks_reason: whether the question also asks for one sentence of reason.
        statements: what is to be called true or false before the question is answered, in the order shown.
    """

    query: Query
    scene_seed: int
    scene: GeneratedScene | None
    question: Question
    generation_error: str
    expected_action: str
    rule_id: str
    asks_reason: bool = False
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class SampleRecord:
    """What one sample said.

    Attributes:
        verdict: what the search is told.
        answer_status: "" when there was no answer to read.
        letter: the letter chosen, "" if none.
        answered_action: id of the action chosen, "" if none.
        direction: how a wrong action errs, "" if it does not.
        reason_text: the sentence of reason, "" if none was asked or given.
        collision: what the answered action does in one dimension; None where nothing can be said.
        is_invalid: a FAIL because no option was named.
        said: what was said of each statement, None where nothing was; empty where nothing was read.
    """

    query: Query
    verdict: Verdict
    answer_status: Literal["answered", "invalid", ""]
    letter: str
    answered_action: str
    expected_action: str
    direction: str
    reason_text: str
    collision: CollisionVerdict | None
    is_invalid: bool
    said: tuple[bool | None, ...] = ()


@dataclass(frozen=True)
class ChoiceRecord:
    """What the text of one answer says; the fields are those of ``SampleRecord``."""

    verdict: Verdict
    answer_status: Literal["answered", "invalid"]
    letter: str
    answered_action: str
    direction: str
    reason_text: str
    said: tuple[bool | None, ...] = ()


def scene_seed_of(query: Query, *, run_seed: int) -> int:
    """Return the scene seed of a sample; independent across concept sets and numbers."""
    return derive_seed(run_seed, "scene", *query.key, query.number)


def prepare_sample(
    query: Query, *, domain: Domain, source: SceneSource, config: RevelioConfig, run_seed: int
) -> PreparedSample:
    """Make the scene and the question of a sample; a scene that cannot be made is recorded, not raised.

    Raises:
        SourceAwayError: no scene at all can be made now.
    """
    return prepare_scene(
        query,
        domain=domain,
        source=source,
        scene_seed=scene_seed_of(query, run_seed=run_seed),
        options_seed=derive_seed(run_seed, "options", *query.key, query.number),
        ask_reason=config.ask_reason,
    )


def prepare_scene(
    query: Query,
    *,
    domain: Domain,
    source: SceneSource,
    scene_seed: int,
    options_seed: int,
    ask_reason: bool = False,
    with_statements: bool = False,
) -> PreparedSample:
    """Make a scene and its question from given seeds; a scene that cannot be made is recorded, not raised.

    Args:
        query: whose sample it is.
        domain: gives rules and texts.
        source: makes the picture.
        scene_seed: decides the layout.
        options_seed: decides the order of the options, and of the statements.
        ask_reason: also ask for one sentence of reason; never behind statements.
        with_statements: ask behind true and false statements about the concepts.

    Raises:
        SourceAwayError: no scene at all can be made now.
    """
    asks_reason = ask_reason and not with_statements
    statements: tuple[Statement, ...] = ()
    if with_statements:
        probed = ask_with_statements(domain, query.key, seed=options_seed)
        question, statements = replace(probed.question, prompt=probed.prompt), probed.statements
    else:
        question = ask_question(domain, query.key, seed=options_seed, ask_reason=asks_reason)
    scene, generation_error = _scene_or_error(source, query.key, scene_seed)
    return PreparedSample(
        query=query,
        scene_seed=scene_seed,
        scene=scene,
        question=question,
        generation_error=generation_error,
        expected_action=question.decision.action,
        rule_id=question.decision.rule_id,
        asks_reason=asks_reason,
        statements=statements,
    )


def _scene_or_error(source: SceneSource, key: Key, seed: int) -> tuple[GeneratedScene | None, str]:
    try:
        return source.generate(key, seed=seed), ""
    except SourceAwayError:
        raise
    except GenerationError as error:
        return None, str(error)


def read_reply(prepared: PreparedSample, reply: SutReply | None, *, domain: Domain) -> SampleRecord:
    """Judge the reply to a prepared sample.

    Args:
        prepared: the sample; without a scene the record is INCOMPATIBLE and no reply is read.
        reply: the reply; None only when there was no scene to ask about.
        domain: of the sample.

    Raises:
        ValueError: there is a scene but no reply.
    """
    if prepared.scene is None:
        return _unread(prepared, Verdict.INCOMPATIBLE)
    if reply is None:
        raise ValueError("reply must be given for a sample that has a scene")
    if reply.is_call_error:
        return _unread(prepared, Verdict.CALL_ERROR)
    read = read_choice(
        reply.text,
        domain=domain,
        options=prepared.question.options,
        actions=prepared.question.actions,
        expected_action=prepared.expected_action,
        finish_reason=reply.finish_reason,
        asks_reason=prepared.asks_reason,
        n_statements=len(prepared.statements),
    )
    action = read.answered_action
    return SampleRecord(
        query=prepared.query,
        verdict=read.verdict,
        answer_status=read.answer_status,
        letter=read.letter,
        answered_action=action,
        expected_action=prepared.expected_action,
        direction=read.direction,
        reason_text=read.reason_text,
        collision=collision_at(domain, action, prepared.scene.description),
        is_invalid=read.answer_status == "invalid",
        said=read.said,
    )


def read_choice(
    text: str,
    *,
    domain: Domain,
    options: Mapping[str, str],
    actions: Mapping[str, str],
    expected_action: str,
    finish_reason: FinishReason,
    asks_reason: bool,
    n_statements: int = 0,
) -> ChoiceRecord:
    """Judge the text of an answered call; the same text is read the same way again later.

    Args:
        text: the raw reply.
        domain: says in which direction a wrong action errs.
        options: letter -> text of the option.
        actions: letter -> action id.
        expected_action: id of the right action.
        finish_reason: why the text ended.
        asks_reason: whether a sentence of reason was asked for.
        n_statements: how many statements stood before the question.
    """
    reading = parse_choice(text, options=options, n_statements=n_statements, finish_reason=finish_reason)
    action = actions.get(reading.letter or "", "")
    is_right = reading.status == "answered" and action == expected_action
    return ChoiceRecord(
        verdict=Verdict.PASS if is_right else Verdict.FAIL,
        answer_status=reading.status,
        letter=reading.letter or "",
        answered_action=action,
        direction=(domain.error_direction(expected_action, action) or "") if action else "",
        reason_text=reason_of(text, options=options) if asks_reason else "",
        said=tuple(reading.statements),
    )


def collision_at(domain: Domain, action: str, description: SceneDescription) -> CollisionVerdict | None:
    """Return what an action does in a scene in one dimension; None where nothing can be said.

    Only driving domains say how hard an action brakes, and only described layouts how far things are.
    """
    if not action or domain.kinematics is None or not description.objects:
        return None
    return collision_verdict(
        action, distance_m=nearest_lane_distance(description), kinematics=domain.kinematics
    )


def _unread(prepared: PreparedSample, verdict: Verdict) -> SampleRecord:
    return SampleRecord(
        query=prepared.query,
        verdict=verdict,
        answer_status="",
        letter="",
        answered_action="",
        expected_action=prepared.expected_action,
        direction="",
        reason_text="",
        collision=None,
        is_invalid=False,
    )
