#!/usr/bin/env bash
# Installs the Debian packages that a set of tasks needs: tools/setup.sh build [dev] [bench] [reference]
# [screenshot].
# Does nothing when all are there. Without root it prints the line to run and exits 2. docs/dependencies.md says why each
# library is used.
set -euo pipefail

build="build-essential cmake ninja-build pkg-config nlohmann-json3-dev libcli11-dev
  libjpeg62-turbo-dev libpng-dev libwebp-dev libgif-dev libtiff-dev libsixel-dev libavformat-dev libavcodec-dev libavutil-dev
  libgtest-dev libpcre2-dev
  python3 python3-numpy python3-pil espeak-ng fonts-dejavu-core fonts-liberation fonts-freefont-ttf fonts-cantarell"
# libclang-rt-14-dev holds the runtimes of the sanitizers and of libFuzzer.
dev="clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev python3"
bench="libbenchmark-dev"
reference="python3 python3-venv"
screenshot="xvfb xterm x11-apps imagemagick fonts-dejavu-core"

packages=()
for set_name in "${@:-build}"; do
  case "$set_name" in
    build | dev | bench | reference | screenshot) read -r -d '' -a more <<<"${!set_name}" || true ;;
    *) echo "tools/setup.sh: unknown set '$set_name' (build, dev, bench, reference, screenshot)" >&2 && exit 2 ;;
  esac
  packages+=("${more[@]}")
done

if ! command -v dpkg-query >/dev/null; then
  echo "tools/setup.sh: this is no Debian; your system's packages have to provide: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if [[ "$(id -u)" != 0 ]]; then
  echo "These packages are missing. Run this line, then try again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 2
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o Acquire::Retries=3 update </dev/null
apt-get -qq -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null
