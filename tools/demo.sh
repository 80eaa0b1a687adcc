#!/usr/bin/env bash
# Shows the main job on shipped media: text, image, audio, and image with audio through the tiny random checkpoint of the
# goldens, with timings and with every stage's numbers beside the reference's. Its words make no sense: nobody trained it.
set -euo pipefail
cd "$(dirname "$0")/.."
omniphi="${1:-build/omniphi}"
goldens=tests/parity/phi4mm
model="$goldens/checkpoint"

show() {
  local title="$1"
  shift
  echo
  echo "== $title"
  printf 'omniphi run --model %s' "$model"
  printf ' %q' "$@"
  echo
  local answer
  answer="$("$omniphi" run --model "$model" --max-tokens 24 --ignore-eos --json "$@")"
  # One line of JSON: the fields that a person wants to see, without needing anything to parse it.
  sed -E 's/^\{"text":("([^"\\]|\\.)*").*/answer: \1/' <<<"$answer"
  grep -oE '"input_mode":"[a-z_]+"' <<<"$answer"
  grep -oE '"usage":\{.*\}\},' <<<"$answer" | sed -E 's/,"timings.*//; s/,$//'
  grep -oE '"timings":\{[^}]*\}' <<<"$answer"
}

"$omniphi" inspect --model "$model"
show "text" "Name three colours."
show "image" --image "$goldens/media/sq448.png" "What is shown?"
show "audio" --audio "$goldens/media/fox16k.wav"
show "image and audio" --image "$goldens/media/tiny100x60.png" --audio "$goldens/media/fox16k.wav"

echo
echo "== our numbers beside the reference's, stage by stage"
"$omniphi" verify --model "$model" "$goldens"/cases/{t_short,i_tiny,a_16k,m_image_audio}.json

echo
echo "== what a prompt costs with the released model"
"$omniphi" plan --image-size 1344x1792 --audio-seconds 10
