#!/usr/bin/env bash
# From a bare Debian 12 to a trained model: installs packages, builds a release in
# build/, imports WordNet, partitions it in two and trains GraphSAGE on it.
# A second run skips what is done.
set -euo pipefail
cd "$(dirname "$0")/.."
source examples/setup.sh

install_missing "${build_packages[@]}" wordnet-base
# A fresh build leaves the tests out: they need more packages.
[ -f build/build.ninja ] || configure build --buildtype=release -Dtests=false
ninja -C build actors/graphmill
graphmill=build/actors/graphmill

"$graphmill" import wordnet --out data/wordnet-whole
"$graphmill" partition data/wordnet-whole --parts 2 --method metis \
  --out data/wordnet
"$graphmill" train examples/wordnet.yaml --data data "$@"
