"""Pages: read the request, call one service, render."""
