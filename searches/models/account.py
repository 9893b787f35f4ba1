"""People who use the lab."""

from django.contrib.auth.models import AbstractUser
from django.db import models

from vlmlab.web.roles import Role


class User(AbstractUser):
    """A person with exactly one role."""

    role = models.CharField(max_length=16, choices=Role.choices, default=Role.ANNOTATOR)
