"""What the calls of a job at work can still cost; it counts against the limit of its system meanwhile."""

from searches.enums import JobKind, JobState
from searches.models import Job, SutRecord

SPENDING_KINDS = (
    JobKind.TRY_SUT,
    JobKind.CALIBRATE_SUT,
    JobKind.WORD_TABLE,
    JobKind.MINIMIZE_CASE,
    JobKind.ASK_STUDY_CASES,
)
HELD = "held_usd"


def hold(job: Job, usd: float) -> None:
    """Note the most that a job can cost, in its result until there is one."""
    job.result = {HELD: usd}
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(result=job.result)


def release(job: Job) -> None:
    """Hold nothing any more; call it where the cost is written."""
    job.result = {}
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(result=job.result)


def held_by_jobs(sut: SutRecord, *, but: Job | None = None) -> float:
    """Return US dollars that the jobs of a system at work hold; a job that died holds none."""
    rows = Job.objects.filter(kind__in=SPENDING_KINDS, state=JobState.RUNNING, params__sut=sut.slug)
    if but is not None:
        rows = rows.exclude(pk=but.pk)
    return float(sum(result.get(HELD, 0.0) for result in rows.values_list("result", flat=True)))
