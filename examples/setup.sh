# Sourced by quickstart.sh and tests/run.sh: installs what is missing on Debian.
# Do not run it by itself.

build_packages=(
  g++ meson ninja-build ccache pkgconf git
  capnproto libcapnp-dev libcaf-dev libblas-dev
  libopenblas0-pthread libmetis-dev libzmq3-dev cppzmq-dev
  libboost-dev libboost-iostreams-dev libexpected-dev libyaml-cpp-dev libcli11-dev
  libspdlog-dev libfmt-dev nlohmann-json3-dev libxxhash-dev libzstd-dev libsodium-dev zlib1g-dev
  libsqlitecpp-dev libsqlite3-dev liburing-dev libncurses-dev
)

# Succeeds if every package named is installed.
installed() {
  local states
  states=$(dpkg-query -W -f='${db:Status-Abbrev}\n' "$@" 2>/dev/null) || return 1
  ! grep -qv '^ii' <<<"$states"
}

# Installs the packages named that are missing, as root or through sudo.
install_missing() {
  installed "$@" && return 0
  if ! command -v apt-get >/dev/null; then
    echo "This script installs Debian packages. On another system, install what" \
      "corresponds to: $*" >&2
    return 1
  fi
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Run this as root once, or install sudo: packages are missing" >&2
      return 1
    fi
    root=(sudo)
  fi
  echo "Installing missing packages ..."
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Configures a build folder; arguments after its name go to Meson. A new one
# compiles twenty sources as one, which takes a fifth of the time: most of that
# goes into headers of libraries. Debian 12's compiler gives no warnings, so all
# of its builds have them as errors: the quickstart's objects serve the tests,
# too. Another compiler may warn.
configure() {
  local folder=$1 compiler=${CXX:-ccache g++} strict=false
  shift
  if [ -f "$folder/build.ninja" ]; then
    meson configure "$folder" "$@"
  else
    [ "$($compiler -dumpfullversion 2>/dev/null)" = 12.2.0 ] && strict=true
    CXX=$compiler meson setup "$folder" -Dunity=on -Dunity_size=20 \
      -Dwerror=$strict "$@"
  fi
}
