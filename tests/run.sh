#!/usr/bin/env bash
# Builds and runs every test: installs packages, builds a release in build/ and
# tests it, and tests the parts without libtorch and CAF under sanitizers. The
# release has only those of the latter that test vectorised code.
# Tests of the program mostly wait. They begin once the program is built. Everything
# else is built and tested meanwhile, and compilers yield the processors to tests.
# The script prints the output of these tests last, and then the number of tests
# that passed and failed.
# It has no options: what it builds is there for `meson test` afterwards, which
# runs chosen tests (`meson test -C build NAME`).
set -euo pipefail
if [ $# -gt 0 ]; then
  sed -n '2,/^set /{/^# /s/^# //p}' "$0"
  [ "$1" = --help ] || [ "$1" = -h ] && exit 0
  echo "unknown argument: $1" >&2
  exit 2
fi
cd "$(dirname "$0")/.."
# Names the program for tests that are started by hand; here meson does.
unset GRAPHMILL
source examples/setup.sh

install_missing "${build_packages[@]}" catch2 libtorch-dev \
  libgoogle-glog-dev python3 python3-numpy python3-torch mypy wordnet-base \
  iproute2

# Clang compiles for sanitizers in half of the time that g++ takes, its checks are
# those of g++ and more, and code that it refuses could not be fuzzed. Where it is
# not to be had, g++ does it. LLD links these programs of 100 to 200 MB in a seventh
# of the time of the default linker.
sanitizing="ccache clang++" linking=-fuse-ld=lld
compiles_sanitized() {
  clang++ -fuse-ld=lld -fsanitize=address,undefined -x c++ -o /dev/null - \
    <<<"int main() {}"
} 2>/dev/null
compiles_sanitized || install_missing clang libclang-rt-14-dev lld || true
if ! compiles_sanitized; then
  sanitizing="ccache g++" linking=
  echo "Clang with its sanitizers is not there: g++ compiles sanitized code"
fi

passed=0 failed=0 skipped=0
failures=$(mktemp)
tested=$(mktemp) # Output of the tests of the program.
testing=
# Whatever ends this script, the tests that it has started end with it.
end_tests() {
  [ -z "$testing" ] || kill "$testing" 2>/dev/null || true
  rm -f "$failures" "$tested"
}
trap end_tests EXIT

# count FOLDER LOG: adds up the results of the tests that ran last in a build folder
# with this name of a log, and keeps what the failed ones printed last for the end,
# where it is looked for.
count() {
  local p f s
  read -r p f s < <(/usr/bin/python3 - "$1" "$2" "$failures" <<'PY'
import json, sys
folder, log, failures = sys.argv[1:]
with open(f"{folder}/meson-logs/{log}.json") as log:
    tests = [json.loads(line) for line in log]
results = [test["result"] for test in tests]
good = sum(r in ("OK", "EXPECTEDFAIL") for r in results)
skipped = sum(r == "SKIP" for r in results)
print(good, len(results) - good - skipped, skipped)
with open(failures, "a") as out:
    for test in tests:
        if test["result"] in ("OK", "EXPECTEDFAIL", "SKIP"):
            continue
        print(f"{folder}: {test['name']} {test['result']} after "
              f"{test['duration']:.0f} s. It printed last:", file=out)
        printed = test.get("stdout", "") + test.get("stderr", "")
        for line in printed.splitlines()[-60:]:
            print("  " + line[:300], file=out)
PY
  )
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# needed FOLDER in|outside SUITE: names what is installed, and what the tests of a
# build folder need that are in a suite or outside of it. Ninja on its own would build
# what any test needs.
needed() {
  meson introspect "$1" --tests --targets --force-object-output |
    /usr/bin/python3 -c '
import json, os, sys
folder, where, suite = sys.argv[1:]
known = json.load(sys.stdin)
paths = {target["id"]: target["filename"][0] for target in known["targets"]}
needs = {paths[target["id"]] for target in known["targets"]
         if target["installed"]}
needs |= {paths[need] for test in known["tests"]
          if ("graphmill:" + suite in test["suite"]) == (where == "in")
          for need in test["depends"]}
print(*(os.path.relpath(path, folder) for path in needs))' "$@"
}

# build FOLDER TARGET ...
build() {
  nice ninja -C "$@"
}

# run_tests FOLDER LOG OPTION ...
# With run=exec, the shell becomes the tests, so that they can be killed.
run_tests() {
  rm -f "$1/meson-logs/$2.json" # What is counted is of this run.
  ${run-} meson test -C "$1" --logbase "$2" --no-rebuild --print-errorlogs \
    --num-processes $(($(nproc) + 1)) "${@:3}"
}

configure build --buildtype=release -Dtests=true
read -ra programs < <(needed build in system)
build build "${programs[@]}"
# Daemons that are to be lost, and delays, have most of them wait now and then.
run=exec run_tests build system --suite system --num-processes $(($(nproc) + 2)) \
  --timeout-multiplier 4 >"$tested" 2>&1 &
testing=$!

read -ra programs < <(needed build outside plain)
build build "${programs[@]}"

# Sanitizers: the rooms without libtorch and CAF, which are not instrumented. The
# compiler warns of more in such builds, as of fences under the thread sanitizer.
# Of debug information there are the lines that findings name.
build_sanitized() { # FOLDER SANITIZERS TARGET
  CXX=$sanitizing configure "$1" -Doptimization=0 -Ddebug=false -Dcpp_args=-g1 \
    -Dcpp_link_args=$linking -Dtests=true -Db_sanitize="$2" -Db_lundef=false \
    -Dwerror=false
  build "$1" "$3"
}
build_sanitized build-asan address,undefined sanitized-tests
build_sanitized build-tsan thread threaded-tests

# These compute most of the time. They come when most tests of the program are over.
run_tests build others --no-suite plain --no-suite system \
  --timeout-multiplier 4 || true
count build others
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
test_sanitized() { # FOLDER SUITE
  run_tests "$1" "$2" --suite "$2" --timeout-multiplier 10 || true
  count "$1" "$2"
}
test_sanitized build-asan sanitized
test_sanitized build-tsan threaded

status=0
wait "$testing" || status=$?
testing=
cat "$tested"
count build system
if [ "$status" -ge 128 ]; then
  echo "The tests of the program were killed" >>"$failures"
  failed=$((failed + 1))
fi

cat "$failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
