"""The lifecycle of studies, participants and payments, with the one table of allowed moves."""

from django.db.models import TextChoices


class Instrument(TextChoices):
    """What people are asked for."""

    LOCALIZATION = "localization", "Draw boxes"
    REVIEW = "review", "Review scenes"


class StudyState(TextChoices):
    """Where a study stands."""

    DRAFT = "draft", "Draft"
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


STUDY_MOVES: dict[StudyState, frozenset[StudyState]] = {
    StudyState.DRAFT: frozenset({StudyState.OPEN}),
    StudyState.OPEN: frozenset({StudyState.PAUSED, StudyState.CLOSED}),
    StudyState.PAUSED: frozenset({StudyState.OPEN, StudyState.CLOSED}),
    StudyState.CLOSED: frozenset({StudyState.OPEN}),
}


class RecruiterKind(TextChoices):
    """How participants come."""

    LINK = "link", "Open link"
    LIST = "list", "Personal links"
    PROLIFIC = "prolific", "Prolific"
    CONNECT = "connect", "Connect"
    MTURK = "mturk", "Mechanical Turk"


class CaseRole(TextChoices):
    """Why a case is shown; only cases and controls enter the statistics."""

    CASE = "case", "Case"
    CONTROL = "control", "Clean control"
    CHECK_EASY = "check_easy", "Easy check"
    CHECK_INSTRUCTED = "check_instructed", "Instructed check"
    TRAINING = "training", "Training"


CHECK_ROLES = frozenset({CaseRole.CHECK_EASY, CaseRole.CHECK_INSTRUCTED})
COUNTED_ROLES = frozenset({CaseRole.CASE, CaseRole.CONTROL})


class CaseOrigin(TextChoices):
    """Which rows of a campaign a case was taken from."""

    TEST_CASE = "test_case", "Test case"
    EVALUATION = "evaluation", "Evaluation of one operator"
    SEED_IMAGE = "seed_image", "Seed image, unchanged"
    SCENE = "scene", "Generated scene"


class ParticipantState(TextChoices):
    """How far somebody came. ``expired`` gave the slot back; a late answer is still taken."""

    ACTIVE = "active", "Working"
    SUBMITTED = "submitted", "Submitted"
    EXPIRED = "expired", "Time ran out"
    WITHDRAWN = "withdrawn", "Withdrawn"


PARTICIPANT_MOVES: dict[ParticipantState, frozenset[ParticipantState]] = {
    ParticipantState.ACTIVE: frozenset(
        {ParticipantState.SUBMITTED, ParticipantState.EXPIRED, ParticipantState.WITHDRAWN}
    ),
    ParticipantState.EXPIRED: frozenset(
        {ParticipantState.ACTIVE, ParticipantState.SUBMITTED, ParticipantState.WITHDRAWN}
    ),
    ParticipantState.SUBMITTED: frozenset({ParticipantState.WITHDRAWN}),
    ParticipantState.WITHDRAWN: frozenset(),
}


class AnswerStatus(TextChoices):
    """What a participant answered; drawn and empty are acceptances."""

    DRAWN = "drawn", "Boxes drawn"
    EMPTY = "empty", "No such object"
    REJECTED = "rejected", "Rejected"


class RejectReason(TextChoices):
    """Why a participant cannot do a case."""

    NONE = "", "Not rejected"
    IMAGE = "image", "The image is unclear"
    PROMPT = "prompt", "The request is unclear"
    OTHER = "other", "Another reason"


class PaymentState(TextChoices):
    """What became of a participant's payment."""

    OPEN = "open", "Not submitted"
    OWED = "owed", "Owed"
    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"


PAYMENT_MOVES: dict[PaymentState, frozenset[PaymentState]] = {
    PaymentState.OPEN: frozenset({PaymentState.OWED}),
    PaymentState.OWED: frozenset({PaymentState.APPROVED, PaymentState.REJECTED}),
    PaymentState.REJECTED: frozenset({PaymentState.APPROVED}),
    PaymentState.APPROVED: frozenset(),
}


class CallState(TextChoices):
    """What is known of a call to a platform that must not happen twice."""

    PENDING = "pending", "Not known to have arrived"
    DONE = "done", "Done"
    FAILED = "failed", "Refused"


class ReviewState(TextChoices):
    """How far one person's review of one scene is."""

    TAKEN = "taken", "Being reviewed"
    DONE = "done", "Done"
