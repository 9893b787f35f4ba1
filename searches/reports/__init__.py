"""Reports: a campaign as one file that opens without a server."""
