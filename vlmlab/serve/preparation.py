"""Brings database, cache table and static files up to date before the lab starts."""

from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from vlmlab.core.errors import VlmLabError

MANIFEST = "staticfiles.json"


def prepare_database() -> None:
    """Apply what is missing of migrations and the cache table.

    Raises:
        VlmLabError: the database cannot be reached.
    """
    try:
        executor = MigrationExecutor(connection)
    except OperationalError as error:
        raise VlmLabError(
            f"The database does not answer: {str(error).splitlines()[0]}",
            hint="Check VLMLAB_DATABASE_URL and that its server runs; with SQLite, that the disk has room.",
        ) from error
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)


def prepare_static_files() -> bool:
    """Collect and hash static files if any is newer than the last collection; return whether it did."""
    if settings.DEBUG:
        return False
    root = Path(settings.STATIC_ROOT)
    if _is_collected(root / MANIFEST):
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    return True


def _is_collected(manifest: Path) -> bool:
    if not manifest.exists():
        return False
    collected_at = manifest.stat().st_mtime
    for finder in get_finders():
        for path, storage in finder.list([]):
            if Path(storage.path(path)).stat().st_mtime > collected_at:
                return False
    return True
