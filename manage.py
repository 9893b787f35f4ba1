#!/usr/bin/env python
"""Command line of VLM Lab; ``manage.py up`` starts the whole lab."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlmlab.settings")
    execute_from_command_line(sys.argv)
