"""The lifecycle of runs, jobs and findings, with the one table of allowed moves."""

from django.db.models import TextChoices

KEY_SEPARATOR = "+"  # between the concepts in the stored key of a set
CONCEPT_METHOD, MODALITY_METHOD = "revelio", "most"  # names in the core's table of methods
FOLLOW_UP_METHOD, CASE_METHOD = "follow_up", "case_follow_up"  # of campaigns that settle what others suspect


class RunState(TextChoices):
    """Where a run stands."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    CANCELLING = "cancelling", "Ending"
    CANCELLED = "cancelled", "Ended early"
    SUCCEEDED = "succeeded", "Finished"
    FAILED = "failed", "Failed"


FINAL_STATES = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED})
LIVE_STATES = frozenset({RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING})

RUN_MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.RUNNING, RunState.PAUSED, RunState.CANCELLED, RunState.FAILED}),
    RunState.RUNNING: frozenset(
        {RunState.QUEUED, RunState.SUCCEEDED, RunState.FAILED, RunState.PAUSED, RunState.CANCELLING}
    ),
    RunState.PAUSED: frozenset({RunState.QUEUED, RunState.CANCELLED}),
    RunState.CANCELLING: frozenset({RunState.CANCELLED}),
    RunState.CANCELLED: frozenset({RunState.QUEUED}),
    RunState.FAILED: frozenset({RunState.QUEUED}),
    # Only "retry the call errors" reopens a finished run.
    RunState.SUCCEEDED: frozenset({RunState.QUEUED}),
}


class Queue(TextChoices):
    """Static queues; a worker serves some of them."""

    CPU = "cpu", "CPU"
    GPU = "gpu", "GPU"
    API = "api", "Remote API"
    RENDER = "render", "Rendering"


class JobState(TextChoices):
    """Where a short job (try a system, draw a scene) stands."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


class JobKind(TextChoices):
    """What a short job does."""

    TRY_SUT = "try_sut", "Try a system"
    RENDER_SCENE = "render_scene", "Draw a scene"
    CALIBRATE_SUT = "calibrate_sut", "Calibrate a system"
    PRERENDER = "prerender", "Draw scenes ahead"
    MAKE_DATASET = "make_dataset", "Make a dataset"
    IMPORT_SEEDS = "import_seeds", "Import seed images"
    MINIMIZE_CASE = "minimize_case", "Make a case minimal"
    MAKE_STUDY = "make_study", "Make a study"
    ASK_STUDY_CASES = "ask_study_cases", "Ask systems again on the cases of a study"
    WORD_TABLE = "word_table", "Ask for a word table"


class DatasetOrigin(TextChoices):
    """Where the pictures of a dataset come from."""

    SCENES = "scenes", "Made from scenes"
    UPLOAD = "upload", "Uploaded"
    SAMPLE = "sample", "Comes with the lab"


class DatasetState(TextChoices):
    """Whether a dataset may be used."""

    MAKING = "making", "Being made"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"


class CalibrationStatus(TextChoices):
    """What a calibration probe says of the boxes, or of the lettered answers, of a system."""

    CALIBRATED = "calibrated", "Calibrated"
    OTHER_CONVENTION = "other_convention", "Another convention fits"
    UNCLEAR = "unclear", "No convention fits"
    UNREADABLE = "unreadable", "Cannot be read"
    FAILED = "failed", "Calls failed"


class TrialStatus(TextChoices):
    """What is known of one concept set (mirrors the core's trial status)."""

    OPEN = "open", "Open"
    DECIDED_FAIL = "decided_fail", "Decided: fails"
    DECIDED_PASS = "decided_pass", "Decided: passes"
    PARKED = "parked", "Parked"
    INCOMPATIBLE = "incompatible", "Cannot be drawn"


class Verdict(TextChoices):
    """How one sample ended (mirrors the core's verdict)."""

    PASS = "pass", "Passed"
    FAIL = "fail", "Failed"
    CALL_ERROR = "call_error", "Call error"
    INCOMPATIBLE = "incompatible", "Cannot be drawn"


class FindingState(TextChoices):
    """How far a failure mode is trusted."""

    SUSPECTED = "suspected", "Suspected"
    CONFIRMED = "confirmed", "Confirmed"
    REFUTED = "refuted", "Refuted"
    UNDETERMINED = "undetermined", "Undetermined"


class Direction(TextChoices):
    """In which direction a wrong answer errs (mirrors the core's error direction)."""

    UNDER = "under-reaction", "Under-reaction"
    INSUFFICIENT = "insufficient", "Insufficient"
    OVER = "over-reaction", "Over-reaction"
    MISSED = "missed-hazard", "Missed hazard"
    CAUTION = "over-caution", "Over-caution"
    NONE = "", "None"


class RegimeName(TextChoices):
    """What a MoST run may perturb (mirrors the core's regime)."""

    IMAGE = "image", "Image"
    TEXT = "text", "Text"
    JOINT = "joint", "Joint"


class ModalityStatus(TextChoices):
    """How far a MoST run came (mirrors the core's run status)."""

    UNFINISHED = "unfinished", "Unfinished"
    FINISHED = "finished", "Finished"
    BASELINE_FAILURE = "baseline_failure", "Baseline failure"
    CALL_ERROR = "call_error", "Call error"


class AnswerKind(TextChoices):
    """How a system answered where boxes were asked for (mirrors the core's answer status)."""

    BOXES = "boxes", "Boxes"
    EMPTY = "empty", "Empty"
    MALFORMED = "malformed", "Malformed"
    CALL_ERROR = "call_error", "Call error"


class CaseKind(TextChoices):
    """Which test case of a run it is."""

    RETURNED = "returned", "Returned"
    MINIMAL = "minimal", "Minimal"


class WordTableKind(TextChoices):
    """What a word table holds (mirrors the core's table kind)."""

    HOMOPHONE = "homophone", "Homophones"
    SYNONYM = "synonym", "Synonyms"


class WordTableState(TextChoices):
    """How far a word table is."""

    ASKING = "asking", "Being asked for"
    DRAFT = "draft", "To be reviewed"
    REVIEWED = "reviewed", "Reviewed"
    FAILED = "failed", "Failed"


class FollowUpName(TextChoices):
    """What a follow-up does (mirrors the core's kinds)."""

    CONFIRM = "confirm", "Confirmation"
    ABLATE = "ablate", "Ablation"
    PROBE = "probe", "Recognition probe"
    INTERACT = "interact", "Four-cell test"
    TRANSFER = "transfer", "Transfer"
    REGRESS = "regress", "Regression"
    ENVELOPE = "envelope", "Decision card"


class Minimality(TextChoices):
    """Whether a concept set still fails with less."""

    UNKNOWN = "", "Not tested"
    MINIMAL = "minimal", "Minimal"
    REDUCIBLE = "reducible", "Reducible"
    UNDETERMINED = "undetermined", "Undetermined"


class TriageStatus(TextChoices):
    """What people do about a finding."""

    OPEN = "open", "Open"
    ACCEPTED = "accepted", "Accepted"
    REPORTED = "reported", "Reported"
    FIXED = "fixed", "Fixed"
    DISMISSED = "dismissed", "Dismissed"


class SceneFlagKind(TextChoices):
    """What a person says of a generated scene."""

    FINE = "none", "No issues"
    NOISE = "noise", "Image generation failure or noise"
    ANSWER = "answer_wrong", "Expected answer wrong, or the wrong rule"
    QUESTION = "question", "Question issue"
    OTHER = "other", "Other"


class ExperimentKind(TextChoices):
    """What a group of campaigns is for."""

    COMPARISON = "comparison", "Algorithm comparison"
    ABLATION = "ablation", "Ablation"
    REPRODUCTION = "reproduction", "Reproduction"


class FamilyKind(TextChoices):
    """What a regression family pins."""

    CONCEPTS = "concepts", "Failure modes"
    CASES = "cases", "Test cases"
