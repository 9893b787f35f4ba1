"""Which role may call which operation of the API; what is missing here is closed to everybody."""

from vlmlab.web.api_answers import API_NAMESPACE
from vlmlab.web.roles import EVERYBODY, READERS, RESEARCHERS, Role

_OPERATIONS: dict[str, frozenset[Role]] = {
    "read_me": EVERYBODY,
    # systems
    "list_kinds": READERS,
    "list_presets": READERS,
    "list_suts": READERS,
    "read_sut": READERS,
    "register_sut": RESEARCHERS,
    "change_sut": RESEARCHERS,
    "enable_sut": RESEARCHERS,
    "disable_sut": RESEARCHERS,
    "calibrate_sut": RESEARCHERS,
    "try_sut": RESEARCHERS,
    # jobs and material
    "read_job": RESEARCHERS,
    "list_domains": READERS,
    "read_domain": READERS,
    "draw_scene": RESEARCHERS,
    "check_domain": RESEARCHERS,
    "add_domain": RESEARCHERS,
    "list_domain_versions": READERS,
    "read_domain_version": READERS,
    "save_domain_version": RESEARCHERS,
    "read_picture": READERS,
    "list_datasets": READERS,
    "read_dataset": READERS,
    "list_dataset_pictures": READERS,
    "export_dataset": READERS,
    "make_dataset": RESEARCHERS,
    # searches
    "list_campaigns": READERS,
    "read_campaign": READERS,
    "start_campaign": RESEARCHERS,
    "list_runs": READERS,
    "read_run": READERS,
    "cancel_run": RESEARCHERS,
    "pause_run": RESEARCHERS,
    "resume_run": RESEARCHERS,
    "retry_call_errors": RESEARCHERS,
    "raise_spending_limit": RESEARCHERS,
    "read_log": READERS,
    "list_sets": READERS,
    "list_samples": READERS,
    "export_run": READERS,
    # findings
    "list_findings": READERS,
    "read_finding": READERS,
    "export_findings": READERS,
    # regressions
    "start_regression": RESEARCHERS,
    "read_regression": READERS,
}

PERMISSIONS: dict[str, frozenset[Role]] = {
    "api_reference": READERS,
    **{f"{API_NAMESPACE}:{name}": roles for name, roles in _OPERATIONS.items()},
}
