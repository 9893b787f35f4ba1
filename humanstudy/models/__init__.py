"""Everything the human study stores."""

from humanstudy.models.answer import Assessment, Draft, ProblemReport
from humanstudy.models.case import StudyCase
from humanstudy.models.participant import Participant, Slot
from humanstudy.models.recruitment import Invitation, MturkHit, PaymentRecord, PlatformCall
from humanstudy.models.review import Review
from humanstudy.models.study import ConsentVersion, Study, Subset

__all__ = [
    "Assessment",
    "ConsentVersion",
    "Draft",
    "Invitation",
    "MturkHit",
    "Participant",
    "PaymentRecord",
    "PlatformCall",
    "ProblemReport",
    "Review",
    "Slot",
    "Study",
    "StudyCase",
    "Subset",
]
