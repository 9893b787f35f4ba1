"""Reports of errors, such as the page of the debug mode, without what nobody may see."""

from html import escape

from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter, SafeExceptionReporterFilter

from vlmlab.web.secrets_seen import without_secrets


class AlwaysSafeFilter(SafeExceptionReporterFilter):
    """Hides what views mark as sensitive in the debug mode too: keys of providers are real there as well."""

    def is_active(self, request: HttpRequest | None) -> bool:
        """Return that it hides."""
        return True


class RedactingReporter(ExceptionReporter):
    """Leaves out every secret that this process has held in the open, wherever it stands in a report."""

    def get_traceback_html(self) -> SafeString:
        """Return the report as a page."""
        return SafeString(without_secrets(super().get_traceback_html(), written_as=escape))

    def get_traceback_text(self) -> SafeString:
        """Return the report as text."""
        return SafeString(without_secrets(super().get_traceback_text()))
