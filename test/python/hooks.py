"""What schemathesis cannot know of this API: which of its findings are none, each with the reason."""

import json
import os
from pathlib import Path

import schemathesis

LISTED = json.loads((Path(__file__).parent / "refusals.json").read_text())
KEY = "Idempotency-Key"
PREVIEW = "/enterprises/{rut}/cfes/preview"


def _breaks_only_listed_rules(response, case) -> bool:
    """A request that fits the schema and breaks a rule that no schema can say: refusals.json has them."""
    if response.status_code not in (400, 422):
        return False
    error = response.json()["error"]
    faults = error.get("details", {}).get("fields", [])
    if not faults:
        return error["code"] in LISTED["errors"]
    return all(fault["code"] in LISTED["faults"] or _could_not_be_computed(fault, case) for fault in faults)


def _could_not_be_computed(fault, case) -> bool:
    """A preview computes what is left out: from lines that are wrong it cannot, and what it computes may be too large."""
    return case.path == PREVIEW and fault["code"] in ("body.missing", "number.too_large")


def _was_not_sent(failure, case) -> bool:
    """The enterprise in the path is always the one that is there; a trial does not look at the key."""
    return (
        "parameter `rut` in path" in failure.message and case.path_parameters["rut"] == os.environ["CFE_RUT"]
    ) or (f"parameter `{KEY}` in header" in failure.message and "validate_only" in (case.query or {}))


def _is_another_route(case) -> bool:
    """GET …/cfes/preview is GET …/cfes/{cfe_id}, whose cfe_id is malformed."""
    return case.path == PREVIEW


@schemathesis.hook
def filter_failure(context, failure, case, response) -> bool:
    """Whether a failure counts."""
    match type(failure).__name__:
        case "RejectedPositiveData":
            # What `If-None-Match: *` is answered is no refusal.
            return response.status_code != 304 and not _breaks_only_listed_rules(response, case)
        case "AcceptedNegativeData":
            return not _was_not_sent(failure, case)
        case "UnsupportedMethodResponse" | "AllowHeaderMismatch":
            return not _is_another_route(case)
        case _:
            return True
