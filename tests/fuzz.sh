#!/usr/bin/env bash
# Fuzzes everything that reads what others wrote, for hours, by libFuzzer with the
# address and undefined-behaviour sanitizers:
#
#   bash tests/fuzz.sh [HOURS] [HARNESS ...] [--jobs N] [--json] [--list]
#
# See --help, and tests/fuzz/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${GRAPHMILL_FUZZ_BUILD:-build-fuzz}

case " $* " in
*" --help "* | *" -h "*) exec /usr/bin/python3 tests/fuzz/campaign.py --help ;;
esac

if ! command -v clang++ >/dev/null; then
  echo "fuzz.sh: clang++ is not there; on Debian: apt-get install clang libclang-rt-14-dev" >&2
  exit 2
fi
compiler=clang++
command -v ccache >/dev/null && compiler="ccache clang++"
{
  if [ ! -e "$build/build.ninja" ]; then
    CXX=$compiler meson setup "$build" -Dfuzzing=true -Dtests=true \
      -Doptimization=1 -Ddebug=true -Dunity=on -Dunity_size=20 \
      -Db_sanitize=address,undefined -Db_lundef=false
  fi
  ninja ${GRAPHMILL_FUZZ_NINJA:-} -C "$build" tests/fuzz/fuzz
} >&2
exec /usr/bin/python3 tests/fuzz/campaign.py --build "$build" "$@"
