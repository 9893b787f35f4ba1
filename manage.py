#!/usr/bin/env python
"""Command line of VLM Lab; ``manage.py up`` starts the whole lab."""

import os
import sys

try:
    from django.conf import settings
    from django.core.management import execute_from_command_line
except ModuleNotFoundError as error:
    if error.name != "django":
        raise
    sys.exit(
        "This Python has no Django. The lab's own has it: .venv/bin/python manage.py (make setup makes it)."
    )

from vlmlab.core.errors import VlmLabError

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlmlab.settings")
    try:
        settings.DEBUG  # noqa: B018 - read the settings now: what is wrong with them is told as a sentence
    except VlmLabError as error:
        sys.exit(f"VLM Lab cannot start. {error}")
    execute_from_command_line(sys.argv)
