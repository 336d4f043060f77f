"""A client that openapi-python-client generates from our document, for `conformance client`; generated.sh runs it.

The adapter calls the generated functions as their README shows, and adds nothing: no retries, no waits, no timeout of a call.
"""

import json
import os
import sys

import httpx
from generated_client import AuthenticatedClient
from generated_client.api.extraction import extract_proxies
from generated_client.api.static import list_static_groups, search_static_instances
from generated_client.models import ExtractSuccess, GroupsSuccess, SearchRequest, SearchSuccess

TOKEN = os.environ["SALLYPORT_API_KEY"]


def result_of(response, success):
    if not isinstance(response, success):
        raise RuntimeError(f"not a success: {type(response).__name__}")
    return response


def answer(client, operation, arguments):
    if operation == "extract":
        result = result_of(extract_proxies.sync(client=client, num=arguments["num"]), ExtractSuccess)
        return {"gateways": [f"{entry.ip}:{entry.port}" for entry in result.data]}
    if operation == "groups":
        result = result_of(list_static_groups.sync(client=client, api_key=TOKEN), GroupsSuccess)
        return {"groups": [group.group_id for group in result.data.items]}
    if operation == "search":
        instances, total, page = [], None, 1
        while total is None or len(instances) < total:
            body = SearchRequest.from_dict({**arguments, "page": page})
            found = search_static_instances.sync(client=client, body=body, api_key=TOKEN)
            data = result_of(found, SearchSuccess).data
            instances += [item.instance_id for item in data.items]
            total, page = data.total, page + 1
            if not data.items:
                break
        return {"instances": instances, "total": total}
    # The generated function reads JSON alone.
    sys.exit(64)


def main():
    task = json.load(sys.stdin)
    timeout = httpx.Timeout(task["time_limit_ms"] / 1000)
    client = AuthenticatedClient(base_url=os.environ["SALLYPORT_BASE_URL"], token=TOKEN, timeout=timeout)
    try:
        result = answer(client, task["operation"], task["arguments"])
    except Exception as error:
        result = {"error": {"class": type(error).__name__, "message": str(error)}}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
