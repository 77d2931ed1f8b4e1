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
    return all(
        fault["code"] in LISTED["faults"] or _was_computed(fault, case) or _has_decimals_in_path(fault, case)
        for fault in faults
    )


def _has_decimals_in_path(fault, case) -> bool:
    """274.0 is an integer to JSON Schema; a path has digits alone."""
    match fault["path"].split("/"):
        case ["", "path", name]:
            return str(case.path_parameters.get(name, "")).endswith(".0")
        case _:
            return False


def _was_computed(fault, case) -> bool:
    """A product of figures that fit, in a line whose amount a preview computes, may have too many digits."""
    match fault["path"].split("/"):
        case ["", "details", at, "item_amount"] if case.path == PREVIEW and fault["code"] == "number.too_large":
            return "item_amount" not in case.body["details"][int(at)]
        case ["", "header", "totals", name] if case.path == PREVIEW and fault["code"] == "number.too_large":
            return name not in case.body["header"]["totals"]
        case _:
            return False


def _was_not_sent(failure, case) -> bool:
    """The enterprise in the path is always the one that is there; a trial does not look at the key."""
    return (
        "parameter `rut` in path" in failure.message and case.path_parameters["rut"] == os.environ["CFE_RUT"]
    ) or (f"parameter `{KEY}` in header" in failure.message and "validate_only" in (case.query or {}))


@schemathesis.hook
def filter_failure(context, failure, case, response) -> bool:
    """Whether a failure counts."""
    match type(failure).__name__:
        case "RejectedPositiveData":
            # What `If-None-Match: *` is answered is no refusal.
            return response.status_code != 304 and not _breaks_only_listed_rules(response, case)
        case "AcceptedNegativeData":
            return not _was_not_sent(failure, case)
        case _:
            return True
