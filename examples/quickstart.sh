#!/usr/bin/env bash
# From a bare Debian 12 to a model trained on a cluster: installs packages, builds
# a release in build/, imports WordNet, partitions it in two, starts two node
# daemons on this machine, gives them a definition and shows the run. Options are
# those of `graphmill submit`. A second call skips what is done.
set -euo pipefail
cd "$(dirname "$0")/.."
source examples/setup.sh

install_missing "${build_packages[@]}" wordnet-base
# A fresh build leaves the tests out: they need more packages.
[ -f build/build.ninja ] || configure build --buildtype=release -Dtests=false
ninja -C build actors/graphmill
graphmill=build/actors/graphmill

"$graphmill" import wordnet --name wordnet --out data/wordnet-whole
"$graphmill" partition data/wordnet-whole --parts 2 --method metis \
  --out data/wordnet

folder=$(mktemp -d)
started=()

# Whatever ends this script, what it has started ends with it.
end_started() {
  trap - EXIT
  [ "${#started[@]}" -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait || true
  rm -rf "$folder"
}
trap end_started EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start_daemon NAME [OPTION ...]: starts a node daemon at a port that is free, and
# sets `address` to where it is.
start_daemon() {
  local name=$1
  shift
  "$graphmill" node --data data/wordnet --name "$name" \
    --listen tcp://127.0.0.1:0 --ready-file "$folder/$name" "$@" \
    2>"$folder/$name.log" &
  started+=($!)
  until [ -s "$folder/$name" ]; do
    if ! kill -0 $! 2>/dev/null; then
      cat "$folder/$name.log" >&2
      exit 1
    fi
    sleep 0.05
  done
  address=$(<"$folder/$name")
}

# The first daemon is the coordinator; every other one joins it.
start_daemon first --serve 0
coordinator=$address
start_daemon second --serve 1 --join "$coordinator"

# In the background, so that signals to this script are heard at once.
"$graphmill" submit examples/wordnet.yaml --cluster "$coordinator" --watch "$@" &
started+=($!)
wait $!
