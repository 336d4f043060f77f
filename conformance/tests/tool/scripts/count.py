"""The archive `run.har` has every request of the checks in `run.json`. What the run looks for by itself belongs to no check."""
import json

entries = [entry["comment"] for entry in json.load(open("run.har"))["log"]["entries"]]
of_checks = [check for check in entries if ".discovery" not in check]
assert all(check.startswith("groups.") for check in of_checks), of_checks
assert len(of_checks) == sum(check["requests"] for check in json.load(open("run.json"))["checks"]) > 20
