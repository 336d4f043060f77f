"""Writes `session.har` as Chrome exports it, with all that the suite does not read, and the token in each place that may have one."""
import json
from urllib.parse import quote

token = open("token").read()


def url(path, host="api.example.com"):
    return f"https://{host}/openapi/v1/{path}?api_key={quote(token, '')}&accessToken={token}-joined"


def pairs(**members):
    return [{"name": name.replace("_", "-"), "value": value} for name, value in members.items()]


def entry(second, method, url, response, sent=None):
    request = {
        "method": method, "url": url, "httpVersion": "h2", "headersSize": -1, "bodySize": 2,
        "queryString": pairs(api_key=token), "cookies": pairs(session=f"{token}-cookie"),
        "headers": [{"name": ":authority", "value": "api.example.com"}] + pairs(
            accept="*/*", authorization=f"Bearer {token}-bearer", cookie=f"lang=en; session={token}-cookie",
            referer=f"https://x.invalid/?token={token}-referer", x_csrftoken=f"{token}-csrf", content_type="application/json"),
    }
    if sent:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(sent | {"api_key": f"{token}-body"})}
    text = json.dumps(response | {"accessToken": f"{token}-of-the-response"})
    return {
        "_initiator": {"type": "script"}, "_priority": "High", "_resourceType": "fetch", "cache": {}, "connection": "1",
        "pageref": "page_1", "serverIPAddress": "192.0.2.1", "time": 12.5, "timings": {"wait": 12.5, "_queued": 1},
        "startedDateTime": f"2026-01-01T10:00:{second:02}.250Z", "request": request,
        "response": {
            "status": 200, "statusText": "", "httpVersion": "h2", "cookies": [], "redirectURL": "", "headersSize": -1,
            "bodySize": -1, "_transferSize": 900, "_error": None,
            "headers": pairs(content_type="application/json", cache_control="no-store", x_request_id="r-1",
                             set_cookie=f"session={token}-set"),
            "content": {"size": len(text), "mimeType": "application/json", "text": text},
        },
    }


def envelope(data):
    return {"code": 200, "message": "ok", "requestId": "r-1", "data": data}


def groups(*ids):
    moment = "2026-01-01T00:00:00Z"
    return envelope({"items": [{"groupId": id, "name": f"of {token}", "createdAt": moment, "updatedAt": moment} for id in ids]})


def instance(id):
    return {
        "instanceId": id, "offerId": 1, "status": "active", "ip": "203.0.113.7", "port": 2000 + id, "protocols": ["http"],
        "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": None, "activatedAt": None, "capabilities": {},
        "groupId": None,
    }


def search(second, page, *ids):
    data = {"items": [instance(id) for id in ids], "page": page, "pageSize": 2, "total": 4}
    sent = {"ips": ["203.0.113.7"], "page": page, "pageSize": 2}
    return entry(second, "POST", url("static/instances/search"), envelope(data), sent)


def extraction(second, port):
    data = [{"ip": "gw.invalid", "port": port}]
    response = {"code": 0, "success": True, "msg": "ok", "data": data, "request_ip": "192.0.2.9"}
    return entry(second, "GET", url("proxy/extract") + "&num=1&request_id=order-77", response)


cut = entry(9, "GET", url("static/groups"), groups(1))
cut["response"]["content"] = {"size": 900, "mimeType": "application/json"}
entries = [
    entry(1, "GET", "https://console.example.com/app.js", {"password": "hunter2-hunter2"}),
    entry(2, "OPTIONS", url("static/groups"), {}),
    entry(3, "GET", url("static/groups"), groups(2, 1)),
    search(4, 1, 1, 2),
    search(5, 2, 2, 3),
    extraction(6, 1),
    extraction(7, 2),
    entry(8, "GET", url("static/groups", "u:s3cret@other.example.com"), groups(1)),
    cut,
]
log = {
    "version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"},
    "pages": [{"id": "page_1", "title": "https://console.example.com/"}], "entries": entries,
}
json.dump({"log": log}, open("session.har", "w"))
