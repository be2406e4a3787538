#!/usr/bin/env bash
# Installs packages in a Debian that has nothing else, and does there what a new
# user does: a dataset, a model, a cluster of two daemons, the manual page, batches
# in Python, a model of PyTorch.
#
#   bash examples/packaging/try_package.sh FOLDER [SUITE [MIRROR]]
#
# FOLDER has what build_deb.sh makes, and optionally the wheel of build_wheel.py.
# As root; takes some GiB below ${TMPDIR:-/tmp}. Ends with 77 where debootstrap is
# not installed.
set -euo pipefail
folder=$(realpath "$1")
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
mkdir "$system/packages"
cp "$folder"/*graphmill_*.deb "$system/packages"
cp "$folder"/graphmill-*.whl "$system/packages" 2>/dev/null || true

inside() {
  chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
inside apt-get update -qq

# The wheel before the packages, so that it has nothing but itself.
cat >"$system/root/batches.py" <<'EOF'
import graphmill

loader = graphmill.Loader("data/small", [5, 5], batch_size=64, as_="numpy")
seeds = sum(batch.batch_size for batch in loader)
assert seeds == loader.info.node_types[loader.info.target].splits["train"] > 0
print(f"{seeds} seeds in {len(loader)} batches")
EOF
if ls "$system"/packages/*.whl >/dev/null 2>&1; then
  inside apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
  inside apt-get install -y -qq --no-install-recommends python3-numpy >/dev/null
  inside bash -euc 'cd /root
    python3 -m venv --system-site-packages wheel
    wheel/bin/pip install --quiet --no-index --no-deps /packages/*.whl
    wheel/bin/graphmill import rmat --scale 12 --out data/small --quiet
    wheel/bin/python batches.py
    printf "dataset: small\ntrain: {epochs: 1}\n" >tiny.yaml
    wheel/bin/graphmill train tiny.yaml --quiet
    rm -r wheel data runs tiny.yaml'
  rm "$system"/packages/*.whl
fi

# A model of one's own, with what it needs beside the packages.
began=$SECONDS
inside bash -c 'apt-get install -y -qq --no-install-recommends /packages/*.deb \
  python3-torch wordnet-base >/dev/null'
installed=$SECONDS
inside bash -euc 'cd /root
  graphmill import wordnet --out data/wordnet --quiet >/dev/null
  python3 /usr/share/doc/graphmill/examples/own_model.py data/wordnet --epochs 3'
echo "a model of one's own: $((installed - began)) s to install," \
  "$((SECONDS - installed)) s to import and train"

inside apt-get install -y -qq --no-install-recommends man-db bash-completion >/dev/null
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
python3 batches.py
# Python's package has no programs of its own, and reads PyTorch when it has to.
for file in $(dpkg -L python3-graphmill); do
  if [ -f "$file" ] && [ "$(head -c 4 "$file" | tail -c 3)" = ELF ]; then
    echo "python3-graphmill has a program or a library: $file" >&2
    exit 1
  fi
done
python3 -c 'import torch'
python3 -c 'import graphmill, sys; sys.exit("torch" in sys.modules)'
graphmill import rmat --scale 10 --out data/people --quiet
sed -n '/^```python$/,/^```$/p' /usr/share/doc/graphmill/README.md |
  sed '1d;$d' >readme.py
python3 readme.py
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
inside apt-get purge -y -qq graphmill python3-graphmill >/dev/null
for left in usr/bin/graphmill usr/lib/python3/dist-packages/graphmill; do
  if [ -e "$system/$left" ]; then
    echo "the packages leave /$left behind" >&2
    exit 1
  fi
done
echo "the packages work in $suite"
