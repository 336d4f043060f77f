#!/usr/bin/env bash
# Generates a Python client from the document with openapi-python-client, and tests it. The report goes to standard output, as
# Markdown. Needs python3 with venv, and a package index for pip.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openapi-python-client==0.29.1 >&2
"$folder/venv/bin/openapi-python-client" generate --path "$here/../../openapi/openapi.yaml" \
  --output-path "$folder/generated_client" --meta none >&2
cd "$here/../.."
PYTHONPATH=$folder cargo conformance client --quiet --report md=- "$@" -- "$folder/venv/bin/python" "$here/generated.py"
