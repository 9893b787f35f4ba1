"""The API as a whole: one object with every room, and its schema."""

from ninja import NinjaAPI

from searches.api import (
    account,
    campaigns,
    datasets,
    domain_versions,
    domains,
    findings,
    regressions,
    runs,
    suts,
)
from searches.api.errors import answer_errors
from searches.api.reading import StrictParser
from vlmlab.web.api_answers import API_NAMESPACE

DESCRIPTION = """Drive VLM Lab from a notebook, a script or a pipeline.

Every request carries a token: `Authorization: Bearer vlm_…`. It may do what the role of its owner may do.

Lists come in pages: `items`, and `next` with the address of the next page, or null.

Every error has the same shape: `message`, `hint`, `field`. 401: no usable token. 403: the role may not do
this. 404: it does not exist. 409: it is in another state. 422: a value is refused. 503: the database is
busy, try again."""

api = NinjaAPI(
    title="VLM Lab",
    version="1",
    description=DESCRIPTION,
    urls_namespace=API_NAMESPACE,
    parser=StrictParser(),
    openapi_url=None,
    docs_url=None,
)
answer_errors(api)
for room in (account, suts, domain_versions, domains, datasets, campaigns, runs, findings, regressions):
    api.add_router("", room.router)
