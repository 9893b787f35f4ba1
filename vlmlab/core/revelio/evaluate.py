"""From a query to a scene and a question, and from a reply to a verdict with everything a finding shows."""

from dataclasses import dataclass
from typing import Literal

from vlmlab.core.errors import GenerationError
from vlmlab.core.replies.choices import parse_choice, reason_of
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.types import Query, Verdict
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.kinematics import CollisionVerdict, collision_verdict, nearest_lane_distance
from vlmlab.core.scenes.questions import Question, ask_question, error_direction
from vlmlab.core.scenes.scene import GeneratedScene, SceneDescription, SceneSource
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.base import SutReply


@dataclass(frozen=True)
class PreparedSample:
    """Everything about a sample before the system under test sees it.

    Attributes:
        scene: None when it could not be made; then ``generation_error`` says why.
        expected_action: id of the right action.
        rule_id: the rule that gave it.
        asks_reason: whether the question also asks for one sentence of reason.
    """

    query: Query
    scene_seed: int
    scene: GeneratedScene | None
    question: Question
    generation_error: str
    expected_action: str
    rule_id: str
    asks_reason: bool = False


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


def scene_seed_of(query: Query, *, run_seed: int) -> int:
    """Return the scene seed of a sample; independent across concept sets and numbers."""
    return derive_seed(run_seed, "scene", *query.key, query.number)


def prepare_sample(
    query: Query, *, domain: Domain, source: SceneSource, config: RevelioConfig, run_seed: int
) -> PreparedSample:
    """Make the scene and the question of a sample; a scene that cannot be made is recorded, not raised."""
    scene_seed = scene_seed_of(query, run_seed=run_seed)
    question = ask_question(
        domain,
        query.key,
        seed=derive_seed(run_seed, "options", *query.key, query.number),
        ask_reason=config.ask_reason,
    )
    scene: GeneratedScene | None = None
    generation_error = ""
    try:
        scene = source.generate(query.key, seed=scene_seed)
    except GenerationError as error:
        generation_error = str(error)
    decision = question.decision
    return PreparedSample(
        query=query,
        scene_seed=scene_seed,
        scene=scene,
        question=question,
        generation_error=generation_error,
        expected_action=decision.action,
        rule_id=decision.rule_id,
        asks_reason=config.ask_reason,
    )


def read_reply(prepared: PreparedSample, reply: SutReply | None) -> SampleRecord:
    """Judge the reply to a prepared sample.

    Args:
        prepared: the sample; without a scene the record is INCOMPATIBLE and no reply is read.
        reply: the reply; None only when there was no scene to ask about.

    Raises:
        ValueError: there is a scene but no reply.
    """
    if prepared.scene is None:
        return _unread(prepared, Verdict.INCOMPATIBLE)
    if reply is None:
        raise ValueError("reply must be given for a sample that has a scene")
    if reply.is_call_error:
        return _unread(prepared, Verdict.CALL_ERROR)
    options = prepared.question.options
    reading = parse_choice(reply.text, options=options, finish_reason=reply.finish_reason)
    action = prepared.question.actions.get(reading.letter or "", "")
    is_right = reading.status == "answered" and action == prepared.expected_action
    return SampleRecord(
        query=prepared.query,
        verdict=Verdict.PASS if is_right else Verdict.FAIL,
        answer_status=reading.status,
        letter=reading.letter or "",
        answered_action=action,
        expected_action=prepared.expected_action,
        direction=(error_direction(prepared.expected_action, action) or "") if action else "",
        reason_text=reason_of(reply.text, options=options) if prepared.asks_reason else "",
        collision=_collision(action, prepared.scene.description) if action else None,
        is_invalid=reading.status == "invalid",
    )


def _collision(action: str, description: SceneDescription) -> CollisionVerdict | None:
    if description.domain != "driving":
        return None
    return collision_verdict(action, distance_m=nearest_lane_distance(description))


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
