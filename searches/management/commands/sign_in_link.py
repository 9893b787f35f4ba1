"""``manage.py sign_in_link``: print a link that signs a person in once."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from searches.models import User
from searches.services.people import first_admin, renew_link
from vlmlab.core.errors import VlmLabError
from vlmlab.serve.guards import lab_address

DEFAULT_BASE = "http://127.0.0.1:8000"


class Command(BaseCommand):
    """Prints a one-time sign-in link; whoever can run commands here may open the site."""

    help = "Print a link that signs a person in once (the first admin unless --user is given)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--user", help="name of the person; without it, the first admin")
        parser.add_argument("--base", help="address of the site; without it, that of the running lab")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the link."""
        try:
            person = User.objects.get(username=options["user"]) if options["user"] else first_admin()
            path = renew_link(person, by=None)
        except User.DoesNotExist:
            names = ", ".join(User.objects.filter(is_active=True).values_list("username", flat=True)[:20])
            raise CommandError(
                f"There is nobody called “{options['user']}”. Known: {names or 'nobody yet'}."
            ) from None
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        base = options["base"] or lab_address(settings.DATA_DIR / "up.lock") or DEFAULT_BASE
        self.stdout.write(base.rstrip("/") + path)
