"""The stored pictures of cases: people see the bytes that the systems got, as long as the study stands."""

from humanstudy.models import StudyCase


def named_blobs() -> set[str]:
    """Return the digests of all pictures that a case names; the collection of garbage spares them."""
    return set(StudyCase.objects.values_list("image_sha256", flat=True).iterator(chunk_size=2000))
