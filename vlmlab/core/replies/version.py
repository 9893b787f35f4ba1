"""The version of all readers of replies; a stored reading names the version that made it."""

READER_VERSION = "1"
