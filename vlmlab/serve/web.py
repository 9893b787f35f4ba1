"""The web process: uvicorn on a socket that the supervisor opened (``python -m vlmlab.serve.web FD``)."""

import os
import socket
import sys
import threading

import uvicorn

GRACE_SECONDS = 3


def warm_up() -> None:
    """Load what the first page with an interval needs, so that no visitor waits for it."""
    from vlmlab.core.stats import clopper_pearson

    clopper_pearson(1, 2)


def main(descriptor: int) -> None:
    """Serve the site on an open listening socket until told to stop."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlmlab.settings")
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
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
