"""``manage.py seal_keys_again``: puts every stored provider key under the newest key of the environment."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.services.keys import seal_again
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_many


class Command(BaseCommand):
    """Changing the key that seals the secrets: prepend the new one, run this, take the old one away."""

    help = (
        "Seal every stored provider key with the first key of VLMLAB_FIELD_KEYS. To change that key: write "
        "the new one before the old one, restart the site and the workers, run this, then take the old one "
        "away."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Seal and say how many keys were changed."""
        try:
            n_sealed = seal_again()
        except VlmLabError as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        if n_sealed:
            self.stdout.write(f"{write_many(n_sealed, 'key')} sealed again with the newest key.")
        else:
            self.stdout.write("Every stored key is sealed with the newest key already.")
