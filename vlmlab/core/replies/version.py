"""One number for all readers: it grows whenever any of them may read a stored reply differently."""

READER_VERSION = "1"
