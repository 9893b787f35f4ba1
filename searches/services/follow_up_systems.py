"""Whether the system that a follow-up asks is the one whose failures it tests."""

from searches.models import SearchRun
from searches.services.follow_ups import ACCEPTS_CHANGED
from searches.services.run_log import log_event
from searches.services.slices import OtherSystemError
from searches.services.suts import LoadedSut

SAME_SYSTEM_KINDS = frozenset({"confirm", "ablate"})
"""What says something of the suspects themselves; other kinds ask whichever system a person chose."""


def check_found_system(run: SearchRun, sut: LoadedSut) -> None:
    """Make sure, before the first batch, that suspects are tested on the system that they were found on.

    Raises:
        OtherSystemError: it has changed since, and nobody said that the changed one is to be tested.
    """
    if run.step or "fingerprint" in run.checkpoint or run.campaign.kind not in SAME_SYSTEM_KINDS:
        return
    if sut.fingerprint in found_on(run) or not found_on(run):
        return
    text = f"{run.sut.name} is not the system any more that these failure modes were found on."
    if not run.campaign.plan.get(ACCEPTS_CHANGED):
        raise OtherSystemError(
            text,
            hint="Its files, settings, device or libraries have changed. Undo that and resume, or start the "
            "follow-up again and say that the system as it is now is to be tested.",
        )
    log_event(run.pk, f"{text} As it is now it is tested, as was asked for.", level="warning")


def found_on(run: SearchRun) -> set[str]:
    """Return the identities of the systems that the findings of a run's items were found on, where known."""
    found = run.items.exclude(finding=None).values_list("finding__run__checkpoint", flat=True)
    return {checkpoint["fingerprint"] for checkpoint in found.distinct() if checkpoint.get("fingerprint")}
