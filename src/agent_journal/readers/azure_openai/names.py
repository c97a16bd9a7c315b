"""What columns are called: however a table, an export or somebody's own logging spells them."""

from __future__ import annotations

from functools import lru_cache

SOURCE = "azure-openai"

# Columns that hold columns: of storage exports, of the table AzureDiagnostics and of Application Insights.
PROPERTIES, INSIGHTS = "properties", "customdimensions"
NESTED = (PROPERTIES, INSIGHTS, "responseheaders")
CORRELATION = "correlationid"
# What the rows of a call have in common.
IDS = (CORRELATION, "requestid", "apimrequestid")
SEQUENCE = "sequencenumber"
MODEL, VERSION, SUBSCRIPTION = "modelname", "apiversion", "apimsubscriptionid"
RESPONSE_TIME = "responsetimestamp"
DURATIONS = ("durationms", "totaltime")
TOKENS = ("prompttokens", "completiontokens", "totaltokens")
ERRORS = ("lasterrormessage", "lasterrorreason")
DEPLOYMENT = "deploymentname"
DIAGNOSED_DEPLOYMENT = "modeldeploymentname"
# What people's own logging calls it.
OWN_DEPLOYMENTS = ("deployment", "deploymentid")
REQUEST_SIDE, RESPONSE_SIDE = "requestmessages", "responsemessages"
REQUEST_BODIES = ("requestbody", "backendrequestbody")
RESPONSE_BODIES = ("responsebody", "backendresponsebody")
TIMES = ("timestamp", "timegenerated", "time")

# AzureDiagnostics ends the names of its columns with their type: `properties_s`, `duration_d`.
_TYPED = ("_s", "_d", "_g", "_b", "_t")
_ZONE = " [UTC]"
_MARKS = str.maketrans("", "", "_- ")


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A column's name without case, marks, type and zone: `TimeGenerated [UTC]` is `timegenerated`."""
    plain = name.strip().removesuffix(_ZONE)
    if plain.endswith(_TYPED):
        plain = plain[:-2]
    return plain.translate(_MARKS).casefold()


@lru_cache(maxsize=1024)
def spelled(columns: tuple[str, ...]) -> dict[str, str]:
    """How the columns of a row are spelled, by their folded names; of two alike the first counts."""
    found: dict[str, str] = {}
    for column in columns:
        found.setdefault(folded(column), column)
    return found
