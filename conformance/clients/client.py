#!/usr/bin/env python3
"""A client on Python's standard library for `conformance client`; see ../CLIENTS.md.

cargo conformance client -- python3 conformance/clients/client.py
"""

import email.utils
import http.client
import ipaddress
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

BASE = os.environ["SALLYPORT_BASE_URL"]
TOKEN = os.environ["SALLYPORT_API_KEY"]
SEPARATORS = {"1": "\r\n", "2": "/br", "3": "\r", "4": "\n", "5": "\t"}
RETRIES = 3


class CallError(Exception):
    """A call that failed. Its message holds no text of the service, which may repeat the token."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another host."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


def check_base():
    url = urllib.parse.urlsplit(BASE)
    try:
        is_local = url.hostname == "localhost" or ipaddress.ip_address(url.hostname).is_loopback
    except ValueError:
        is_local = False
    if url.scheme != "https" and not is_local:
        raise CallError("usage", "plain http to another host would send the token unencrypted")


def retry_after(headers):
    """Seconds to wait, or None."""
    value = headers.get("Retry-After")
    if value is None:
        return None
    if value.strip().isdigit():
        return int(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def read(response, deadline):
    """The whole body, piece by piece, so that a dripping one ends with the call."""
    pieces = []
    while piece := response.read1(65536):
        pieces.append(piece)
        if time.monotonic() > deadline:
            raise CallError("timeout", "the call took too long")
    body, length = b"".join(pieces), response.headers.get("Content-Length")
    if length is not None and len(body) != int(length):
        raise http.client.IncompleteRead(body)
    return body


def send(path, query, deadline, body=None, success=200, text=False):
    """The body of a success: JSON, or text where that was asked for."""
    headers = {"Accept-Encoding": "identity"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    url = BASE.rstrip("/") + path + "?" + urllib.parse.urlencode(query)
    request = urllib.request.Request(url, data=body, headers=headers)
    left = deadline - time.monotonic()
    if left <= 0:
        raise CallError("timeout", "the call took too long")
    wait, kind, message = None, "transport", "the connection was interrupted"
    try:
        try:
            response = OPENER.open(request, timeout=left)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            status, content = response.status, read(response, deadline)
            wait = retry_after(response.headers)
        try:
            document = json.loads(content)
        except ValueError:
            document = None
        code = document.get("code") if isinstance(document, dict) else None
        if status == 200 and text and code is None:
            return content.decode("utf-8", "replace")
        if status == 200 and not text and isinstance(document, dict) and code == success and code is not False:
            return document
        message = f"HTTP {status}, code {code if isinstance(code, int) else 'unknown'}"
        kind = "rejected"
        if status == 429:
            kind = "throttled"
        elif wait is not None:
            kind = "shortage"
        elif status not in (500, 502, 503, 504):
            raise CallError(kind, message)
    except TimeoutError:
        raise CallError("timeout", "the call took too long") from None
    except (OSError, http.client.HTTPException):
        pass
    return wait, kind, message


def call(path, query, deadline, **options):
    """Sends a request, and again after what may pass."""
    for attempt in range(RETRIES + 1):
        result = send(path, query, deadline, **options)
        if not isinstance(result, tuple):
            return result
        wait, kind, message = result
        pause = max(wait or 0, 0.2 * 2**attempt)
        if attempt == RETRIES or time.monotonic() + pause > deadline:
            raise CallError(kind, message)
        time.sleep(pause)


def answer(operation, arguments, deadline):
    check_base()
    if operation in ("extract", "extract_text"):
        query = {**arguments, "api_key": TOKEN, "request_id": str(uuid.uuid4())}
        is_text = operation == "extract_text"
        if is_text:
            query["return_type"] = "txt"
        result = call("/openapi/v1/proxy/extract", query, deadline, success=0, text=is_text)
        if not is_text:
            return {"gateways": [f"{entry['ip']}:{entry['port']}" for entry in result["data"]]}
        separator = SEPARATORS.get(arguments["lb"], arguments.get("sb"))
        return {"entries": [entry for entry in result.split(separator) if entry.strip()]}
    if operation == "groups":
        result = call("/openapi/v1/static/groups", {"api_key": TOKEN}, deadline)
        return {"groups": [group["groupId"] for group in result["data"]["items"]]}
    if operation == "search":
        instances, total, page = [], None, 1
        while total is None or len(instances) < total:
            body = json.dumps({**arguments, "page": page}).encode()
            result = call("/openapi/v1/static/instances/search", {"api_key": TOKEN}, deadline, body=body)
            items, total = result["data"]["items"], result["data"]["total"]
            instances += [item["instanceId"] for item in items]
            page += 1
            if not items:
                break
        return {"instances": instances, "total": total}
    sys.exit(64)


def main():
    task = json.load(sys.stdin)
    deadline = time.monotonic() + task["time_limit_ms"] / 1000
    try:
        result = answer(task["operation"], task["arguments"], deadline)
    except CallError as error:
        result = {"error": {"class": error.kind, "message": str(error)}}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
