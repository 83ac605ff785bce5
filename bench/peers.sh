#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Installs the programs that statwalk is compared with, at pinned versions.
#
#   peers.sh [DIR]        default: the folder `peers` beside this script
#
# What is there already at the pinned version is left alone, so that a second
# call costs nothing. A peer that cannot be installed is listed in
# DIR/missing.txt with the reason and the others go on: the comparison says
# which engines it lacks.
#
# GNU du and find, bfs, ncdu and treescan come from the distribution (apt,
# needs root); where apt is absent they are taken from PATH as they are.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/peers}
mkdir -p "$dir/bin" "$dir/log"
dir=$(cd "$dir" && pwd)

# name of the binary | crate | version
crates=(
  "fd|fd-find|10.5.0"
  "fdf|fdf|0.9.8"
  "dua|dua-cli|3.0.0"
  "dust|du-dust|1.2.7"
  "pdu|parallel-disk-usage|0.24.0"
  "diskus|diskus|0.9.0"
)
gdu_module=github.com/dundee/gdu/v5
gdu_version=$(awk -v m="$gdu_module" '$1 == "require" && $2 == m { print $3 }' "$here/gdu/go.mod")
# package | program that it brings
debs=("bfs|bfs" "ncdu|ncdu" "libio-aio-perl|treescan" "strace|strace" "coreutils|du" "findutils|find")

: >"$dir/missing.txt"
missing() {
  echo "$1: $2" | tee -a "$dir/missing.txt" >&2
}

apt_wanted=()
for row in "${debs[@]}"; do
  IFS='|' read -r package program <<<"$row"
  command -v "$program" >/dev/null || apt_wanted+=("$package")
done
if ((${#apt_wanted[@]})); then
  if command -v apt-get >/dev/null && [[ $(id -u) == 0 ]]; then
    { apt-get update && apt-get install -y --no-install-recommends "${apt_wanted[@]}"; } \
      >"$dir/log/apt.log" 2>&1 || true
  fi
  for row in "${debs[@]}"; do
    IFS='|' read -r package program <<<"$row"
    command -v "$program" >/dev/null \
      || missing "$program" "package $package is not installed and apt could not (log/apt.log)"
  done
fi

# One target directory for all crates: they share many dependencies. Low
# priority, because this takes long and nobody waits for it.
target=${BENCH_PEERS_TARGET:-${TMPDIR:-/tmp}/statwalk-bench-peers}
for row in "${crates[@]}"; do
  IFS='|' read -r program crate version <<<"$row"
  stamp=$dir/log/$program.version
  if [[ -x $dir/bin/$program && $(cat "$stamp" 2>/dev/null) == "$version" ]]; then
    continue
  fi
  if ! command -v cargo >/dev/null; then
    missing "$program" "no cargo"
    continue
  fi
  echo "peers: $crate $version ..." >&2
  # From the root directory, so that no workspace's settings or toolchain file
  # reach the peers.
  if (cd / && CARGO_TARGET_DIR=$target nice -n 19 cargo install --locked --force \
    --root "$dir" "$crate@$version") >"$dir/log/$program.log" 2>&1; then
    echo "$version" >"$stamp"
  else
    reason=$(grep -m1 -E '^error' "$dir/log/$program.log" || echo "see log/$program.log")
    missing "$program" "cargo install $crate@$version failed: $reason"
  fi
done

stamp=$dir/log/gdu.version
if [[ ! -x $dir/bin/gdu || $(cat "$stamp" 2>/dev/null) != "$gdu_version" ]]; then
  if ! command -v go >/dev/null; then
    missing gdu "no go"
  else
    echo "peers: gdu $gdu_version ..." >&2
    # The flags by which upstream builds its releases (stripped, its version inside).
    if (cd "$here/gdu" && CGO_ENABLED=0 nice -n 19 go build -mod=readonly -buildvcs=false -trimpath \
      -ldflags "-s -w -X $gdu_module/build.Version=$gdu_version" \
      -o "$dir/bin/gdu" "$gdu_module/cmd/gdu") >"$dir/log/gdu.log" 2>&1; then
      echo "$gdu_version" >"$stamp"
    else
      missing gdu "go build of $gdu_module@$gdu_version failed: $(tail -n1 "$dir/log/gdu.log")"
    fi
  fi
fi

exit 0
