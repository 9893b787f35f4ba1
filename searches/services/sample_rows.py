"""Rows of the database as JSON of the sample data, and back."""

from collections.abc import Set
from typing import Any

from django.db import models
from django.utils.dateparse import parse_datetime


def columns_of(row: models.Model, *, left_out: Set[str]) -> dict[str, Any]:
    """Return the values of a row by column, without those that are left out."""
    fields = [field for field in row._meta.concrete_fields if field.name not in left_out]
    return {field.name: field.value_from_object(row) for field in fields}


def dated(model: type[models.Model], values: dict[str, Any]) -> dict[str, Any]:
    """Return values as a model takes them: times that JSON keeps as text are times again."""
    dates = {field.name for field in model._meta.concrete_fields if isinstance(field, models.DateTimeField)}
    return {
        name: parse_datetime(value) if name in dates and isinstance(value, str) else value
        for name, value in values.items()
    }
