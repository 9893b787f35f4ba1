"""Whether the model that answered is the one that was asked: providers forward retired names silently."""

import re

_REGION = re.compile(r"^(?:us|eu|apac|ap|au|ca|jp|sa|me|af|il|uk|us-gov|global)\.(?=[a-z0-9]+\.)")
_MAKER = re.compile(
    r"^(?:anthropic|amazon|meta|mistral|google|openai|qwen|deepseek|moonshot(?:ai)?|zai|nvidia|cohere)\."
)
_FILE = re.compile(r"\.(?:gguf|safetensors|bin)$")
# What a provider writes behind a name without meaning another model.
_MOVING = re.compile(r"(?:[-@:](?:latest|default|free)|-v\d{1,2}:\d{1,2}(?::\d{1,4}k)?)$")
_MONTH_DAY = r"(?:0[1-9]|1[0-2])-?(?:[0-2]\d|3[01])"
_SNAPSHOT = re.compile(rf"[-@](20\d\d-?{_MONTH_DAY}|{_MONTH_DAY}-20\d\d|{_MONTH_DAY}|00\d)$")


def is_other_model(asked: str, served: str) -> bool:
    """Return whether a provider says that another model answered than the one that was asked.

    A dated snapshot of the asked model, another spelling and the prefixes of regions, makers, folders and
    routers are the same model; another snapshot than an asked one is not.

    Args:
        asked: the model of the registration.
        served: as the provider reports it; "" when it does not say.
    """
    if not asked.strip() or not served.strip():
        return False
    (wanted, wanted_date), (found, found_date) = _parts(asked), _parts(served)
    if wanted != found:
        return True
    return not (wanted_date.endswith(found_date) or found_date.endswith(wanted_date))


def _parts(name: str) -> tuple[str, str]:
    """Return a model's name in one spelling and the digits of its snapshot, "" for none."""
    name = name.strip().casefold().replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    name = _MAKER.sub("", _REGION.sub("", _FILE.sub("", name)))
    while _MOVING.search(name):
        name = _MOVING.sub("", name)
    match = _SNAPSHOT.search(name)
    date = re.sub(r"\D", "", match[1]) if match else ""
    bare = name[: match.start()] if match else name
    return re.sub(r"[._\s-]+", "-", bare), date
