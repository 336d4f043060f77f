#!/usr/bin/env bash
# Generates a client from the document with a public generator, and tests it:
#
#   conformance/clients/generated.sh python [ARGUMENT OF `conformance client`]...
#
# python: openapi-python-client. typescript: openapi-typescript with openapi-fetch, whose types are checked. javascript:
# openapi-generator with superagent. They need a package index for pip or npm, python3 with venv or node, and the last one java.
# Where one of these cannot be had, it ends with 69.
set -euo pipefail
language=${1:?expected python, typescript or javascript}
shift
here=$(cd "$(dirname "$0")" && pwd)
document=$here/../../openapi/openapi.yaml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

unavailable() {
  echo "generated.sh: $1" >&2
  exit 69
}
python_packages() {
  python3 -m venv "$folder/venv" || unavailable "python3 cannot make an environment"
  timeout 300 "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$@" >&2 ||
    unavailable "pip could not install $*"
}
node_packages() {
  command -v npm >/dev/null || unavailable "npm is missing"
  node -e 'process.exit(typeof fetch === "function" ? 0 : 1)' || unavailable "this node has no fetch"
  timeout 300 npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts "$@" >&2 ||
    unavailable "npm could not install $*"
}

case $language in
  python)
    python_packages openapi-python-client==0.29.1
    "$folder/venv/bin/openapi-python-client" generate --path "$document" \
      --output-path "$folder/generated_client" --meta none >&2
    export PYTHONPATH=$folder
    command=("$folder/venv/bin/python" "$here/generated.py")
    ;;
  typescript)
    node_packages openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @types/node@20.19.0
    cp "$here/generated.ts" "$folder"
    # Elsewhere it would read our configuration of Redocly.
    (cd "$folder" && node_modules/.bin/openapi-typescript "$document" -o api.d.ts >&2)
    "$folder/node_modules/.bin/tsc" --strict --module nodenext --target es2022 --types node --skipLibCheck \
      --typeRoots "$folder/node_modules/@types" --outDir "$folder/out" "$folder/generated.ts" >&2
    command=(node "$folder/out/generated.js")
    ;;
  javascript)
    command -v java >/dev/null || unavailable "java is missing"
    python_packages openapi-generator-cli==7.26.0
    "$folder/venv/bin/openapi-generator-cli" version >&2 || unavailable "this java does not run openapi-generator"
    node_packages superagent@10.2.3 esbuild@0.25.10
    "$folder/venv/bin/openapi-generator-cli" generate -g javascript -i "$document" -o "$folder/generated" \
      --additional-properties=usePromises=true,modelPropertyNaming=original >&2
    cp "$here/generated.js" "$folder/adapter.js"
    "$folder/node_modules/.bin/esbuild" "$folder/adapter.js" --bundle --platform=node --log-level=warning \
      "--alias:generated=$folder/generated/src/index.js" "--outfile=$folder/adapter.cjs" >&2
    command=(node "$folder/adapter.cjs")
    ;;
  *) echo "generated.sh: unknown language $language; expected python, typescript or javascript" >&2 && exit 2 ;;
esac
cd "$here/../.."
# Another program than this repository builds, such as one that is built already.
read -ra conformance <<<"${CONFORMANCE_PROGRAM:-cargo conformance}"
"${conformance[@]}" client --quiet "$@" -- "${command[@]}"
