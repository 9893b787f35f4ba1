"""Commands: everything a browser can launch, a shell can too."""
