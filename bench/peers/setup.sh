#!/usr/bin/env bash
# Makes the virtual environments of the peers in a folder outside the repository, with
# the versions that requirements-*.txt pin, and the embeddings server beside them:
#
#	bench/peers/setup.sh DIR
set -euo pipefail
to=$(realpath -m "${1:?the folder of the environments}")
cd "$(dirname "$0")"
mkdir -p "$to"
go build -o "$to/embedserver" ./embedserver
for requirements in requirements-*.txt; do
  name=${requirements#requirements-}
  name=${name%.txt}
  "${PYTHON:-python3.12}" -m venv "$to/$name"
  "$to/$name/bin/pip" install -q -r "$requirements"
done
