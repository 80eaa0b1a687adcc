#!/usr/bin/env bash
# Shows numbers instead of answers: every stage of the tiny random checkpoint beside the reference's, and what a prompt
# costs with the released model: tools/show_numbers.sh [PROGRAM].
set -euo pipefail
cd "$(dirname "$0")/.."
omniphi="${1:-build/omniphi}"
goldens=tests/parity/phi4mm

echo "== our numbers beside the reference's, stage by stage"
"$omniphi" verify --model "$goldens/checkpoint" "$goldens"/cases/{t_short,i_tiny,a_16k,m_image_audio}.json

echo
echo "== what a prompt costs with the released model"
"$omniphi" plan --image-size 1344x1792 --audio-seconds 10
