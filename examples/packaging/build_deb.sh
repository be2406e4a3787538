#!/usr/bin/env bash
# Makes Debian packages of this source tree, for the Debian that it runs on:
#
#   bash examples/packaging/build_deb.sh [FOLDER]     # default: build-deb
#   apt-get install ./build-deb/*graphmill_*.deb
#
# `graphmill` has the programs, `python3-graphmill` the Python package. Builds a
# release in FOLDER, installs it into a folder there, and packs that. The packages
# depend on what the programs are linked with. Prints the paths of both.
set -euo pipefail
umask 022 # dpkg-deb wants folders that everybody may enter.
cd "$(dirname "$0")/../.."
source examples/setup.sh

build=$(realpath -m "${1:-build-deb}")
install_missing "${build_packages[@]}" dpkg-dev >&2
configure "$build" --buildtype=release --prefix=/usr -Dtests=false >&2
ninja -C "$build" >&2

root=$build/root
rm -rf "$root"
meson install -C "$build" --no-rebuild --quiet --strip --destdir "$root" >&2
gzip -9n "$root"/usr/share/man/man1/graphmill.1
# Debian's zsh looks in site-functions below /usr/local alone.
mv "$root"/usr/share/zsh/site-functions "$root"/usr/share/zsh/vendor-completions
install -m 644 examples/packaging/copyright "$root"/usr/share/doc/graphmill/copyright

version=$(meson introspect --projectinfo "$build" |
  sed 's/.*"version": *"\([^"]*\)".*/\1/')
architecture=$(dpkg --print-architecture)

# dpkg-shlibdeps wants the folder of a source package.
described=$(mktemp -d)
trap 'rm -rf "$described"' EXIT
mkdir "$described/debian"
printf 'Source: graphmill\n\nPackage: graphmill\nArchitecture: any\n' \
  >"$described/debian/control"
depends=$(cd "$described" && dpkg-shlibdeps -O "$root"/usr/bin/graphmill* |
  sed -n 's/^shlibs:Depends=//p')

mkdir "$root/DEBIAN"
# Of what provides BLAS, weights are exact with OpenBLAS on POSIX threads.
cat >"$root/DEBIAN/control" <<EOF
Package: graphmill
Version: $version
Architecture: $architecture
Maintainer: ${DEBFULLNAME:-$(id -un)} <${DEBEMAIL:-$(id -un)@$(hostname)}>
Section: science
Priority: optional
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: $depends, libopenblas0-pthread
Recommends: python3-numpy
Suggests: wordnet-base, python3-graphmill
Description: train graph neural networks on large graphs
 Trains graph neural networks by mini-batches, in one process or on a cluster
 of daemons, to the same weights; graphs may be larger than memory.
EOF
cat >"$root/DEBIAN/postinst" <<'EOF'
#!/bin/sh
set -e
# The user of graphmill-node.service, which nobody starts unasked.
if [ "$1" = configure ] && command -v systemd-sysusers >/dev/null; then
  systemd-sysusers graphmill.conf
fi
EOF
chmod 755 "$root/DEBIAN/postinst"

package=$build/graphmill_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >&2
echo "$package"

root=$build/python-root
rm -rf "$root"
modules=$root/usr/lib/python3/dist-packages/graphmill
mkdir -p "$root/DEBIAN" "$modules/data" "$root/usr/share/doc/python3-graphmill"
install -m 644 actors/python/graphmill/*.py actors/python/graphmill/py.typed "$modules"
install -m 644 actors/python/graphmill/data/*.py "$modules/data"
install -m 644 examples/packaging/copyright \
  "$root"/usr/share/doc/python3-graphmill/copyright
cat >"$root/DEBIAN/control" <<EOF
Package: python3-graphmill
Version: $version
Architecture: all
Maintainer: ${DEBFULLNAME:-$(id -un)} <${DEBEMAIL:-$(id -un)@$(hostname)}>
Section: python
Priority: optional
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: graphmill (= $version), python3 (>= 3.9), python3-numpy
Suggests: python3-torch
Description: train models of your own on batches of Graphmill
 Batches for graph neural networks in PyTorch or NumPy, from graphs that may be
 larger than memory, the same for any number of processes.
EOF
printf '#!/bin/sh\nset -e\n[ "$1" != configure ] || py3compile -p python3-graphmill\n' \
  >"$root/DEBIAN/postinst"
printf '#!/bin/sh\nset -e\npy3clean -p python3-graphmill\n' >"$root/DEBIAN/prerm"
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
package=$build/python3-graphmill_${version}_all.deb
dpkg-deb --root-owner-group --build "$root" "$package" >&2
echo "$package"
