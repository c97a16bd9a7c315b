"""The names of columns in any spelling of a table, an export or a user's own logging."""

from __future__ import annotations

from functools import lru_cache

SOURCE = "azure-openai"

# Columns with nested columns: of storage exports, of the table AzureDiagnostics and of Application Insights.
PROPERTIES, INSIGHTS = "properties", "customdimensions"
NESTED = (PROPERTIES, INSIGHTS, "responseheaders")
CORRELATION = "correlationid"
# The columns that identify the call of a row.
IDS = (CORRELATION, "requestid", "apimrequestid")
SEQUENCE = "sequencenumber"
MODEL, VERSION, SUBSCRIPTION = "modelname", "apiversion", "apimsubscriptionid"
RESPONSE_TIME = "responsetimestamp"
DURATIONS = ("durationms", "totaltime")
TOKENS = ("prompttokens", "completiontokens", "totaltokens")
ERRORS = ("lasterrormessage", "lasterrorreason")
DEPLOYMENT = "deploymentname"
DIAGNOSED_DEPLOYMENT = "modeldeploymentname"
# The names in users' own logging.
OWN_DEPLOYMENTS = ("deployment", "deploymentid")
REQUEST_SIDE, RESPONSE_SIDE = "requestmessages", "responsemessages"
REQUEST_BODIES = ("requestbody", "backendrequestbody")
RESPONSE_BODIES = ("responsebody", "backendresponsebody")
TIMES = ("timestamp", "timegenerated", "time")

# AzureDiagnostics appends the type to column names: `properties_s`, `duration_d`.
_TYPE_SUFFIXES = ("_s", "_d", "_g", "_b", "_t")
_ZONE_SUFFIX = " [UTC]"
_MARKS = str.maketrans("", "", "_- ")


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a name without case, marks, type and zone: `TimeGenerated [UTC]` is `timegenerated`."""
    plain = name.strip().removesuffix(_ZONE_SUFFIX)
    if plain.endswith(_TYPE_SUFFIXES):
        plain = plain[:-2]
    return plain.translate(_MARKS).casefold()


@lru_cache(maxsize=1024)
def spelled(columns: tuple[str, ...]) -> dict[str, str]:
    """Map the normalized names of columns to their spelling; the first of two equal names counts."""
    spelling: dict[str, str] = {}
    for column in columns:
        spelling.setdefault(folded(column), column)
    return spelling
