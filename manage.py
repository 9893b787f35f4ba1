#!/usr/bin/env python
"""Command line of VLM Lab; ``manage.py up`` starts the whole lab."""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line

from vlmlab.core.errors import VlmLabError

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlmlab.settings")
    try:
        settings.DEBUG  # noqa: B018 - read the settings now: what is wrong with them is told as a sentence
    except VlmLabError as error:
        sys.exit(f"VLM Lab cannot start. {error}")
    execute_from_command_line(sys.argv)
