"""The web process: uvicorn on a socket that the supervisor opened (``python -m vlmlab.serve.web FD``)."""

import os
import socket
import sys

import uvicorn

GRACE_SECONDS = 3


def main(descriptor: int) -> None:
    """Serve the site on an open listening socket until told to stop."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlmlab.settings")
    config = uvicorn.Config(
        "vlmlab.asgi:application",
        lifespan="off",
        # Addresses may hold one-time tokens: requests are not logged, errors are.
        access_log=False,
        log_level="warning",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=os.environ.get("VLMLAB_BEHIND_PROXY", "") not in {"", "0", "false"},
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"),
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main(int(sys.argv[1]))
