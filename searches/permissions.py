"""Who may open which page of the searches app; a name missing here is closed to everybody."""

from vlmlab.web.roles import EVERYBODY, READERS, RESEARCHERS, Role

PERMISSIONS: dict[str, frozenset[Role]] = {
    "home": EVERYBODY,
    "credits": EVERYBODY,
    "manual": EVERYBODY,
    "manual_index": EVERYBODY,
    "components": RESEARCHERS,
    # systems
    "sut_list": READERS,
    "sut_detail": READERS,
    "sut_create": RESEARCHERS,
    "sut_edit": RESEARCHERS,
    "sut_toggle": RESEARCHERS,
    "sut_try": RESEARCHERS,
    "sut_compare": RESEARCHERS,
    "sut_calibrate": RESEARCHERS,
    "sut_calibrations": READERS,
    "sut_calibration": READERS,
    "sut_use_convention": RESEARCHERS,
    "sut_preview": READERS,
    # keys of providers: whoever stored one may change it, and admins any
    "key_list": RESEARCHERS,
    "key_create": RESEARCHERS,
    "key_replace": RESEARCHERS,
    "key_delete": RESEARCHERS,
    # domains
    "domain_list": READERS,
    "domain_detail": READERS,
    "domain_compose": RESEARCHERS,
    # jobs and pictures
    "job_detail": RESEARCHERS,
    "blob": READERS,
    # runs
    "run_list": READERS,
    "run_detail": READERS,
    "run_progress": READERS,
    "run_metrics": READERS,
    "run_log": READERS,
    "run_export": READERS,
    "run_compare": READERS,
    "trial_list": READERS,
    "trial_detail": READERS,
    "sample_redraw": RESEARCHERS,
    "run_create": RESEARCHERS,
    "run_estimate": RESEARCHERS,
    "run_clone": RESEARCHERS,
    "run_cancel": RESEARCHERS,
    "run_pause": RESEARCHERS,
    "run_resume": RESEARCHERS,
    "run_raise_limit": RESEARCHERS,
    "run_retry_call_errors": RESEARCHERS,
    # findings
    "finding_list": READERS,
    "finding_detail": READERS,
    "finding_export": READERS,
}
