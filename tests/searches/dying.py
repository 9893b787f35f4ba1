"""A worker that dies: what tests raise where the process would be killed."""


class Killed(BaseException):
    """The process is gone: nothing of it tidies up, and what it had not committed is lost."""
