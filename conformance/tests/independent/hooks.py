"""What a tester would tell Schemathesis about this API beyond its document."""

import ipaddress
import json
import os

import schemathesis

OWN = json.loads(os.environ["OWN_ADDRESSES"])


def _is_address(item):
    try:
        ipaddress.ip_address(item)
        return True
    except ValueError:
        return False


@schemathesis.hook
def map_body(context, body):
    """Asks for addresses that the account holds where the generated ones are valid anyway."""
    items = body.get("ips") if isinstance(body, dict) else None
    if isinstance(items, list) and items and all(isinstance(item, str) and _is_address(item) for item in items):
        start = sum(map(len, items)) % len(OWN)
        body["ips"] = [OWN[(start + at) % len(OWN)] for at in range(len(items))]
    return body


@schemathesis.check
def code_agrees_with_status(ctx, response, case):
    """A success has HTTP 200 and the operation's code; an error of the extraction has a code and a message."""
    if "json" not in response.headers.get("content-type", [""])[0]:
        return
    body = response.json()
    expected = 0 if case.path.endswith("/extract") else 200
    if response.status_code == 200:
        assert body.get("code") == expected, f"HTTP 200 with code {body.get('code')}"
    else:
        assert body.get("code") != expected, f"HTTP {response.status_code} with the code of a success"


@schemathesis.check
def pages_are_as_asked(ctx, response, case):
    """A page comes back as asked and is no longer than its size; `num` bounds an extraction."""
    if response.status_code != 200 or "json" not in response.headers.get("content-type", [""])[0]:
        return
    body, data = case.body if isinstance(case.body, dict) else {}, response.json().get("data")
    if case.path.endswith("/search"):
        assert data["page"] == (body.get("page") or 1) and data["pageSize"] == (body.get("pageSize") or 20)
        assert len(data["items"]) <= data["pageSize"] and len(data["items"]) <= data["total"]
        for name in ("countryCode", "cityCode", "status"):
            if isinstance(body.get(name), str) and body[name]:
                assert all(item[name] == body[name] for item in data["items"])
    elif case.path.endswith("/extract"):
        assert len(data) <= int((case.query or {}).get("num", 100))
