"""Annotated pictures: made from scenes, or uploaded."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.enums import DatasetOrigin, DatasetState


class Dataset(models.Model):
    """A set of annotated pictures; image pools draw from one, MoST takes its seed images from one.

    ``recipe`` says how it came to be (number, seed, strata, back end; or the name of the upload and
    what of it was refused). ``credits`` must travel with every export.
    """

    slug = models.SlugField(max_length=64, unique=True)
    title = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    origin = models.CharField(max_length=8, choices=DatasetOrigin.choices)
    state = models.CharField(max_length=8, choices=DatasetState.choices, default=DatasetState.READY)
    domain = models.CharField(max_length=64, blank=True)
    domain_version = models.CharField(max_length=16, blank=True)
    recipe = models.JSONField(default=dict, blank=True)
    credits = models.TextField(blank=True)
    licence = models.CharField(max_length=120, blank=True)
    error = models.TextField(blank=True)
    n_pictures = models.PositiveIntegerField(default=0)
    is_sample = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    @property
    def domain_ref(self) -> str:
        """The domain with its version, as ``find_domain`` reads it; "" where it has several or none."""
        return f"{self.domain}@{self.domain_version}" if self.domain else ""

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("dataset_detail", args=[self.slug])


class DatasetPicture(models.Model):
    """One annotated picture.

    ``annotations`` is a list of ``{label, concept, box, amodal_box, visible_fraction, mask}``: boxes are
    x_min, y_min, x_max, y_max in pixels, ``mask`` is a compressed COCO run-length string or "".
    ``description`` is the scene description of a rendered picture, ``{}`` of a photograph.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="pictures")
    order = models.PositiveIntegerField()
    file_name = models.CharField(max_length=200, blank=True)
    image_sha256 = models.CharField(max_length=64, db_index=True)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    stratum = models.CharField(max_length=32, blank=True)
    concepts = models.JSONField(default=list, blank=True)
    unsure_labels = models.JSONField(default=list, blank=True)  # not to be asked for: not all are boxed
    annotations = models.JSONField(default=list, blank=True)
    description = models.JSONField(default=dict, blank=True)
    description_digest = models.CharField(max_length=64, blank=True)
    scene_seed = models.BigIntegerField(null=True, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    provenance = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["order"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "order"], name="one_dataset_picture_a_place")
        ]
        indexes = [models.Index(fields=["dataset", "stratum", "order"])]

    def __str__(self) -> str:
        return self.file_name or f"{self.dataset_id} picture {self.order}"
