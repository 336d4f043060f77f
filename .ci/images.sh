# shellcheck shell=bash
# Builds the images of `server` and `conformance` and runs them, alone and by server/compose.yaml. Part of `.ci/run`, which has
# `as_root` and `not_checked`.
#
# No registry is needed: the engine is podman of Debian's packages, and the base image is made of packages, too. The programs are those
# that the tests were run with, in `$stripped`, since a release would take minutes; everything else is the Containerfiles' own.

# As root, since not every machine lets others have networks and user namespaces.
engine() {
  as_root env CONTAINERS_CONF="$images/containers.conf" BUILDAH_FORMAT=docker DISABLE_HC_SYSTEMD=true podman "$@"
}

# The reason of a failure: the last line that says something.
last_line() {
  grep . "$1" | tail -n 1
}

# This function and the next two print why, if they fail.
set_up_engine() {
  # `runc`, since crun rejects machines with both versions of cgroups. iptables and the next two are for networks with names.
  local packages=(podman runc iptables netavark aardvark-dns mmdebstrap openssl curl)
  if ! command -v apt-get >/dev/null; then
    echo "no package manager of Debian is here, to install podman and make a base image with"
    return 1
  fi
  if ! { dpkg-query --status "${packages[@]}" && compgen -G '/var/lib/apt/lists/*Release'; } >/dev/null 2>&1 &&
    ! { as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -qy --no-install-recommends "${packages[@]}"; } >"$images/log" 2>&1; then
    echo "${packages[*]} could not be installed: $(last_line "$images/log")"
    return 1
  fi
  # By default podman asks for more open files and processes than a machine without CAP_SYS_RESOURCE grants.
  cat >"$images/containers.conf" <<'END'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
events_logger = "file"
END
  if ! engine info >"$images/log" 2>&1; then
    echo "podman does not work here: $(last_line "$images/log")"
    return 1
  fi
}

# What `debian:bookworm-slim` is in a registry, of the packages of this system, so that its C library fits the programs. It is kept
# between runs while neither the packages nor this file change.
make_base_image() {
  local distribution suite key memory=${TMPDIR:-/tmp}
  distribution=$(. /etc/os-release && echo "${ID^}")
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016 # the variables are apt's
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' "Origin: $distribution" \
    >"$images/sources.list"
  key=$(cat "$images/sources.list" /var/lib/apt/lists/*Release .ci/images.sh | sha256sum | cut -c 1-32)
  if [ "$(engine image inspect --format '{{index .Labels "sallyport.packages"}}' "$base" 2>/dev/null)" = "$key" ]; then return; fi
  # Thousands of small files are written and removed again. Devices are made among them, so not every file system will do.
  if [ -w /dev/shm ] && ! findmnt --noheadings --output OPTIONS --target /dev/shm | grep -qw nodev; then memory=/dev/shm; fi
  if ! as_root env TMPDIR="$memory" mmdebstrap --quiet --variant=minbase \
    --include=usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --aptopt='APT::Install-Recommends "false"' \
    --aptopt='Dir::Cache::pkgcache ""' --aptopt='Dir::Cache::srcpkgcache ""' \
    "$suite" "$images/base.tar" "$images/sources.list" >"$images/log" 2>&1; then
    echo "mmdebstrap could not make a base image: $(last_line "$images/log")"
    return 1
  fi
  engine import --quiet --change "LABEL sallyport.packages=$key" --change 'CMD ["bash"]' "$images/base.tar" "$base" >/dev/null
  as_root rm "$images/base.tar"
  # What was built on the base before.
  engine image prune --force --filter label=sallyport.packages >/dev/null
  if ! engine run --rm --network none "$base" true >"$images/log" 2>&1; then
    echo "podman cannot run a container here: $(last_line "$images/log")"
    return 1
  fi
}

# Containers for server/compose.yaml need a network with names, and podman-compose, which is kept between runs.
set_up_compose() {
  engine network rm --force sallyport-ci >/dev/null 2>&1 || true
  if ! { engine network create sallyport-ci && engine run --rm --network sallyport-ci "$base" true; } >"$images/log" 2>&1; then
    echo "podman cannot connect containers here: $(last_line "$images/log")"
    return 1
  fi
  engine network rm sallyport-ci >/dev/null
  # Under another name until it is whole: a folder that was left half finished would be taken for an installation.
  if ! [ -d "$podman_compose" ] && ! { rm -rf "$podman_compose.new" &&
    timeout 300 python3 -m pip install --quiet --no-deps --only-binary :all: \
      --target "$podman_compose.new" -r .ci/podman-compose.txt && mv "$podman_compose.new" "$podman_compose"; } >"$images/log" 2>&1; then
    echo "pip could not install podman-compose: $(last_line "$images/log")"
    return 1
  fi
}

# The file as it is, with images of this run: those of registries are replaced by others with the same interface.
compose() {
  as_root env CONTAINERS_CONF="$images/containers.conf" BUILDAH_FORMAT=docker DISABLE_HC_SYSTEMD=true \
    SALLYPORT_DB_PASSWORD=of-ci SALLYPORT_TLS="$images/tls" SALLYPORT_HTTPS_PORT="127.0.0.1:$https_port" PYTHONPATH="$podman_compose" \
    python3 -m podman_compose --in-pod false --project-name sallyport-ci \
    --file server/compose.yaml --file .ci/images/compose.yaml "$@"
}

build_image() {
  local begun=$SECONDS name=$1
  shift
  if ! engine build --network host --build-arg BASE_IMAGE="$base" --tag "localhost/sallyport-$name:ci" "$@" >"$images/log" 2>&1; then
    cat "$images/log" >&2
    fail "the image of $name could not be built"
  fi
  printf '%s: %s MB, built in %ss\n' "$name" \
    "$(($(engine image inspect --format '{{.Size}}' "localhost/sallyport-$name:ci") / 1000000))" "$((SECONDS - begun))"
}

fail() {
  echo "error: $*" >&2
  exit 1
}

# podman leaves health checks to systemd, which not every machine has, so they are called from here.
await_health() {
  local attempt
  for attempt in {1..120}; do
    if engine healthcheck run "$1" >/dev/null 2>&1; then
      echo "$1: healthy at attempt $attempt"
      return
    fi
    sleep 0.25
  done
  engine logs "$1" >&2
  fail "$1 is not healthy after $attempt attempts"
}

# Whether it ends by itself, and not by SIGKILL after a while, which is code 137.
stop_cleanly() {
  local begun=$SECONDS code
  engine stop --time 20 "$1" >/dev/null
  code=$(engine inspect --format '{{.State.ExitCode}}' "$1")
  if [ "$code" -ne 0 ]; then
    engine logs "$1" >&2
    fail "$1 exited with code $code at SIGTERM"
  fi
  echo "$1: ended with code 0 in $((SECONDS - begun))s after SIGTERM"
}

# As the Containerfiles advise.
sealed=(--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --memory 1g)

# Not root, nothing that can be written, no rights.
expect_sealed() {
  local status
  status=$(engine exec "$1" cat /proc/1/status)
  grep -qP '^Uid:\t65534\t65534\t65534\t65534$' <<<"$status" || fail "$1 does not run as nobody"
  grep -qP '^CapEff:\t0+$' <<<"$status" || fail "$1 has capabilities"
  if engine exec "$1" touch /usr/local/bin/x 2>/dev/null; then fail "$1 can write to its root"; fi
}

run_images() {
  local token program
  engine run --rm "${sealed[@]}" --network none localhost/sallyport-server:ci --version
  engine run --rm "${sealed[@]}" --network none localhost/sallyport-conformance:ci --version
  echo "the suite with its embedded server:"
  engine run --rm "${sealed[@]}" --network none localhost/sallyport-conformance:ci run --quiet

  echo "the sandbox of the server, with the suite beside it:"
  engine run --detach --name sallyport-ci-sandbox "${sealed[@]}" --network none localhost/sallyport-server:ci >/dev/null
  await_health sallyport-ci-sandbox
  expect_sealed sallyport-ci-sandbox
  token=$(engine logs sallyport-ci-sandbox 2>&1 | sed -n 's/^ *export SALLYPORT_API_KEY=//p')
  engine run --rm "${sealed[@]}" --network container:sallyport-ci-sandbox --env SALLYPORT_API_KEY="$token" \
    localhost/sallyport-conformance:ci run --quiet --profile smoke --base-url http://127.0.0.1:8080

  echo "the suite that watches it:"
  engine run --detach --name sallyport-ci-watch "${sealed[@]}" --network container:sallyport-ci-sandbox \
    --env SALLYPORT_API_KEY="$token" localhost/sallyport-conformance:ci \
    watch --base-url http://127.0.0.1:8080 --profile smoke --every 1h --history /reports/history >/dev/null
  await_health sallyport-ci-watch
  expect_sealed sallyport-ci-watch
  for program in watch sandbox; do stop_cleanly "sallyport-ci-$program"; done

  # That a health check can fail: nothing is at the address that it asks.
  for program in "server:ci run" "conformance:ci proxy --embedded"; do
    # shellcheck disable=SC2086 # the words are arguments
    engine run --detach --name sallyport-ci-unhealthy "${sealed[@]}" --network none --env SALLYPORT_ADMIN=127.0.0.1:9999 \
      localhost/sallyport-$program >/dev/null
    if engine healthcheck run sallyport-ci-unhealthy >/dev/null 2>&1; then
      fail "the health check of $program passes although nothing is there"
    fi
    engine rm --force --volumes --time 0 sallyport-ci-unhealthy >/dev/null
  done
}

# What `compose` prints is kept for a failure.
compose_quietly() {
  if ! compose "$@" >"$images/log" 2>&1; then
    cat "$images/log" >&2
    fail "podman-compose $1 failed"
  fi
}

# Of a caller outside, by the published port.
expect_response() {
  local status
  status=$(curl --silent --show-error --output "$images/response" --write-out '%{http_code}' --retry 20 --retry-delay 1 \
    --retry-all-errors --cacert "$images/tls/chain.pem" "https://localhost:$https_port/openapi/v1/static/groups")
  if [ "$status" != 401 ] || ! grep -q '"code":40101' "$images/response"; then
    fail "nginx responded with $status: $(cat "$images/response")"
  fi
}

run_compose() {
  local log
  https_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  mkdir "$images/tls" "$images/facts"
  as_root chown 65534:65534 "$images/facts"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE \
    -keyout "$images/tls/key.pem" -out "$images/tls/chain.pem" 2>/dev/null
  # In the order of the file's conditions, which podman-compose leaves out with podman before 4.6.
  compose_quietly up --detach database
  await_health sallyport-ci_database_1
  compose_quietly run --rm -T --volume "$images/facts:/facts" server seed --facts /facts/sandbox
  compose_quietly up --detach server
  await_health sallyport-ci_server_1
  expect_sealed sallyport-ci_server_1
  compose_quietly up --detach nginx
  expect_response
  # Of one inside, whose address is in the sample data's whitelists.
  engine run --rm "${sealed[@]}" --network container:sallyport-ci_network_1 \
    --volume "$images/facts:/facts:ro" --volume "$images/tls/chain.pem:/chain.pem:ro" localhost/sallyport-conformance:ci \
    run --quiet --config /facts/sandbox/conformance.toml --base-url https://localhost --ca-file /chain.pem
  # nginx finds the server again.
  engine restart --time 20 sallyport-ci_server_1 >/dev/null
  await_health sallyport-ci_server_1
  expect_response
  log=$(engine logs sallyport-ci_nginx_1 2>&1)
  grep -q '"path":"/openapi/v1/static/groups"' <<<"$log" || fail "the log of nginx has no calls"
  if grep -q sally_ <<<"$log"; then fail "the log of nginx has tokens"; fi
  stop_cleanly sallyport-ci_server_1
}

# Images of programs of a development build are not kept. Others are a cache.
remove_images() {
  {
    # Those that use the network of others go first.
    engine rm --force --volumes --time 0 --ignore sallyport-ci-unhealthy sallyport-ci-watch sallyport-ci_nginx_1
    engine rm --force --volumes --time 0 --ignore sallyport-ci-sandbox sallyport-ci_server_1
    engine rm --force --volumes --time 0 --ignore sallyport-ci_network_1 sallyport-ci_database_1
    compose down --volumes
    engine image rm --force localhost/sallyport-server:ci localhost/sallyport-conformance:ci
    as_root rm -r "$images"
  } >/dev/null 2>&1 || true
}

build_images() {
  local images podman_compose https_port=0 base=localhost/sallyport-base:ci reason is_composed=1
  images=$(mktemp -d)
  if ! reason=$(set_up_engine) || ! reason=$(make_base_image); then
    not_checked "the images: $reason"
    rm -r "$images"
    return
  fi
  podman_compose=${XDG_CACHE_HOME:-$HOME/.cache}/sallyport/podman-compose-$(sed -n 's/^podman-compose==//p' .ci/podman-compose.txt)
  if ! reason=$(set_up_compose); then
    not_checked "server/compose.yaml: $reason"
    is_composed=
  fi
  (
    trap remove_images EXIT
    for name in server conformance; do
      build_image "$name" --file "$name/Containerfile" --target prebuilt "$stripped"
    done
    run_images
    if [ -n "$is_composed" ]; then
      for name in postgresql nginx; do
        build_image "$name" --file ".ci/images/$name.Containerfile" .ci/images
      done
      run_compose
    fi
  )
}
