"""Every setting of the site, read once from the environment (``VLMLAB_*``)."""

import sys
from pathlib import Path

from csp.constants import NONE, SELF

from vlmlab.environment import LabEnvironment

BASE_DIR = Path(__file__).resolve().parent.parent
env = LabEnvironment()
env.read_env(env.str("VLMLAB_ENV_FILE", str(BASE_DIR / ".env")))

IS_TEST = "pytest" in sys.modules
DATA_DIR = Path(env.str("VLMLAB_DATA_DIR", str(BASE_DIR / "var"))).resolve()
MODEL_DIR = Path(env.str("VLMLAB_MODEL_DIR", str(DATA_DIR / "models"))).resolve()
SHIPPED_MODEL_DIR = BASE_DIR / "vlmlab" / "assets"
BLOB_DIR = Path(env.str("VLMLAB_BLOB_DIR", str(DATA_DIR / "blobs"))).resolve()
SCENE_CACHE_DIR = Path(env.str("VLMLAB_SCENE_CACHE_DIR", str(DATA_DIR / "scenes"))).resolve()
SCENE_CACHE_MAX_BYTES = env.int("VLMLAB_SCENE_CACHE_MAX_BYTES", 2_000_000_000)

DEBUG = env.bool("VLMLAB_DEBUG", False)
GENERATED_KEY_PREFIX = "django-insecure-"
SECRET_KEY_FILE = DATA_DIR / "secret_key"


def _secret_key() -> str:
    """Return the configured key, or one generated on first use and kept in the data folder."""
    configured: str = env.str("VLMLAB_SECRET_KEY", "")
    if configured:
        return configured
    if IS_TEST:
        return GENERATED_KEY_PREFIX + "tests-only"
    from vlmlab.serve.secret_key import read_or_create_key

    return read_or_create_key(SECRET_KEY_FILE, prefix=GENERATED_KEY_PREFIX)


SECRET_KEY = _secret_key()
FIELD_KEY_FILE = DATA_DIR / "field_key"


def _field_keys() -> list[str]:
    """Return the keys that seal stored secrets, newest first; one is made on first use when none is set."""
    configured: list[str] = env.list("VLMLAB_FIELD_KEYS", default=[])
    if configured:
        return configured
    if IS_TEST:
        return ["dGVzdHMtb25seS10ZXN0cy1vbmx5LXRlc3RzLW9ubHk="]
    from vlmlab.serve.field_key import read_or_create_field_key

    return [read_or_create_field_key(FIELD_KEY_FILE)]


FIELD_KEYS = _field_keys()


def _study_key() -> str:
    """Return the key that pseudonyms and links of participants are made from; no database holds it."""
    configured: str = env.str("VLMLAB_STUDY_KEY", "")
    if configured:
        return configured
    if IS_TEST:
        return "tests-only-study-key"
    from vlmlab.serve.secret_key import read_or_create_key

    return read_or_create_key(DATA_DIR / "study_key")


STUDY_KEY = _study_key()
ALLOWED_HOSTS = env.list("VLMLAB_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("VLMLAB_CSRF_TRUSTED_ORIGINS", default=[])
IS_HTTPS = env.bool("VLMLAB_HTTPS", False)

INSTALLED_APPS = [
    "searches",
    "humanstudy",
    "vlmlab.web",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "axes",
    "csp",
    "django_filters",
    "django_htmx",
    "template_partials",
]

MIDDLEWARE = [
    "vlmlab.web.async_streams.StreamingMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "vlmlab.web.sessions.PatientSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "vlmlab.web.api_access.TokenMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "vlmlab.web.access.AccessMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "vlmlab.web.errors.VlmLabErrorMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "vlmlab.urls"
WSGI_APPLICATION = "vlmlab.wsgi.application"
ASGI_APPLICATION = "vlmlab.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "vlmlab.web.context.site",
            ],
        },
    },
]

# --- database -----------------------------------------------------------------------------------------
DATABASES = {"default": env.database("VLMLAB_DATABASE_URL", f"sqlite:///{DATA_DIR / 'vlmlab.sqlite3'}")}
DATABASES["default"]["CONN_MAX_AGE"] = 0  # under ASGI each request has a thread of its own
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # WAL + IMMEDIATE: concurrent writers wait instead of failing with "database is locked".
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON; "
            f"PRAGMA synchronous={env.str('VLMLAB_SQLITE_SYNCHRONOUS', 'OFF' if IS_TEST else 'FULL')};"
        ),
    }
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- people -------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "searches.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
if IS_TEST:  # a slow hash in every test would cost minutes
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_CALLABLE = "vlmlab.web.errors.locked_out"
AXES_VERBOSE = False
SIGN_IN_LINK_SECONDS = env.int("VLMLAB_SIGN_IN_LINK_SECONDS", 72 * 3600)
API_TOKEN_READER = "searches.services.tokens.person_of_token"  # noqa: S105 - a path, not a secret
# What apps above searches add to it: kinds of jobs, and files that the collection of garbage must keep.
JOB_WORK: dict[str, str] = {}
BLOB_NAMERS = ["humanstudy.services.case_pictures.named_blobs"]
PERMISSION_TABLES = [
    "vlmlab.web.permissions",
    "searches.permissions",
    "searches.api.permissions",
    "humanstudy.permissions",
]

# --- security -----------------------------------------------------------------------------------------
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = IS_HTTPS
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("VLMLAB_BEHIND_PROXY", False) else None
)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Plotly writes one empty <style> element; the hash of the empty text allows it and nothing else.
EMPTY_STYLE_HASH = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "style-src": [SELF, EMPTY_STYLE_HASH],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- queue --------------------------------------------------------------------------------------------
BROKER_URL = env.str("VLMLAB_BROKER_URL", "")  # "" = workers poll the run table
LEASE_SECONDS = env.int("VLMLAB_LEASE_SECONDS", 60)
SLICE_SECONDS = env.float("VLMLAB_SLICE_SECONDS", 20.0)
SYSTEM_TURN_SECONDS = env.float("VLMLAB_SYSTEM_TURN_SECONDS", 60.0)  # a loaded system's, while others wait
POLL_SECONDS = env.float("VLMLAB_POLL_SECONDS", 0.25)
REAPER_SECONDS = env.float("VLMLAB_REAPER_SECONDS", 15.0)
GARBAGE_SECONDS = env.float("VLMLAB_GARBAGE_SECONDS", 3600.0)
MAX_BATCH_SECONDS = env.float("VLMLAB_MAX_BATCH_SECONDS", 600.0)
MAX_WORKER_MB = env.int("VLMLAB_MAX_WORKER_MB", 0)
HAS_HEARTBEATS = env.bool("VLMLAB_HEARTBEATS", not IS_TEST)
KEPT_PICTURES = env.int("VLMLAB_KEPT_PICTURES", 500)  # a run; failed samples are kept beyond it
CANARY_SECONDS = env.float("VLMLAB_CANARY_SECONDS", 60.0)
CHROMIUM = env.str("VLMLAB_CHROMIUM", "")  # prints PDFs; "" = the first on the PATH

# Doubles and crashes, for tests only: nothing reads them unless VLMLAB_TEST_HOOKS says so.
HAS_TEST_HOOKS = env.bool("VLMLAB_TEST_HOOKS", IS_TEST)
SCENE_SOURCE_FACTORY = env.str("VLMLAB_SCENE_SOURCE_FACTORY", "") if HAS_TEST_HOOKS else ""
CRASH_POINT = env.str("VLMLAB_CRASH_POINT", "") if HAS_TEST_HOOKS else ""

# --- words, files, cache ------------------------------------------------------------------------------
LANGUAGE_CODE = "en-gb"
TIME_ZONE = env.time_zone("VLMLAB_TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True
USE_THOUSAND_SEPARATOR = True
STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("VLMLAB_STATIC_ROOT", str(BASE_DIR / "staticfiles")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "vlmlab.web.plotly_files.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if IS_TEST or DEBUG
            else "whitenoise.storage.CompressedManifestStaticFilesStorage"
        )
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 25_000_000
FILE_UPLOAD_MAX_MEMORY_SIZE = 5_000_000
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "site_cache"}
    if not IS_TEST
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Local servers that a system's endpoint may have: network:port or network:first-last, separated by commas.
ENDPOINT_ALLOW = env.list("VLMLAB_ENDPOINT_ALLOW", default=[])

DEFAULT_EXCEPTION_REPORTER = "vlmlab.web.error_reports.RedactingReporter"
DEFAULT_EXCEPTION_REPORTER_FILTER = "vlmlab.web.error_reports.AlwaysSafeFilter"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "vlmlab.web.log_format.RedactingFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
            "secrets": [SECRET_KEY, STUDY_KEY, *FIELD_KEYS],
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.log_level("VLMLAB_LOG_LEVEL", "INFO")},
    # The DEBUG lines of the last two repeat headers and parts of requests, in which a key may stand.
    "loggers": {
        "axes": {"level": "WARNING"},
        # Its WARNING lines repeat each answered 4xx, such as a form with an error; 5xx are ERROR lines, and
        # refusals that matter have loggers of their own (django.security, axes).
        "django.request": {"level": "ERROR"},
        "httpcore2": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},  # its INFO lines repeat each address
        "botocore": {"level": "INFO"},
    },
}
