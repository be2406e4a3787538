#!/usr/bin/env bash
# Installs a package in a Debian that has nothing else, and does there what a new
# user does: a dataset, a model, a cluster of two daemons, the manual page.
#
#   bash examples/packaging/try_package.sh build-deb/graphmill_*.deb [SUITE [MIRROR]]
#
# As root; takes some GiB below ${TMPDIR:-/tmp}. Ends with 77 where debootstrap is
# not installed.
set -euo pipefail
package=$(realpath "$1")
suite=${2:-bookworm}
mirror=${3:-http://deb.debian.org/debian}
if ! command -v debootstrap >/dev/null; then
  echo "skipped: debootstrap is not installed" >&2
  exit 77
fi
[ "$(id -u)" -eq 0 ] || { echo "run this as root" >&2; exit 1; }

system=$(mktemp -d)
leave() {
  ! mountpoint -q "$system/proc" || umount "$system/proc"
  rm -rf --one-file-system "$system"
}
trap leave EXIT
debootstrap --variant=minbase "$suite" "$system" "$mirror"
chmod 755 "$system" # Users of programs in it enter it, such as man.
mount -t proc proc "$system/proc"
cp "$package" "$system/graphmill.deb"

inside() {
  chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends /graphmill.deb man-db \
  bash-completion >/dev/null
cat >"$system/root/try.sh" <<'EOF'
set -euo pipefail
cd /root
graphmill --version
graphmill import rmat --scale 12 --out data/small --quiet
cat >small.yaml <<'END'
dataset: small
sampler: {fanouts: [5, 5]}
model: {kind: sage, hidden: 32}
train: {epochs: 3}
END
graphmill train small.yaml
graphmill partition data/small --parts 2 --out data/parts --quiet
graphmill up small.yaml --local 2 --data data/parts --quiet
man --warnings graphmill >page.txt
grep -q 'graphmill partition' page.txt
bash -c 'source /usr/share/bash-completion/bash_completion
  _completion_loader graphmill
  complete -p graphmill'
ls /usr/lib/systemd/system/graphmill-node.service /usr/share/doc/graphmill/examples \
  /usr/share/doc/graphmill/{copyright,README.md,examples/guide/train.md} \
  /usr/share/zsh/vendor-completions/_graphmill
EOF
inside bash /root/try.sh
inside apt-get purge -y -qq graphmill >/dev/null
if [ -e "$system/usr/bin/graphmill" ]; then
  echo "the package leaves its programs behind" >&2
  exit 1
fi
echo "the package works in $suite"
