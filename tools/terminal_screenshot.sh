#!/usr/bin/env bash
# Draws the README's picture: `omniphi demo` in an xterm that shows sixels, on a display that nobody sees.
#   tools/terminal_screenshot.sh [PROGRAM [PICTURE [ARGUMENTS OF DEMO...]]]
# Developers only; `tools/setup.sh screenshot` installs what it needs.
set -euo pipefail
cd "$(dirname "$0")/.."
program="$(realpath "${1:-build/omniphi}")"
picture="${2:-docs/images/demo.png}"
arguments=("${@:3}")
columns=100 rows=80

for tool in Xvfb xterm xwd convert; do
  command -v "$tool" >/dev/null || { echo "$0: $tool is missing: tools/setup.sh screenshot" >&2; exit 2; }
done
scratch="$(mktemp -d)"
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done; wait; rm -rf "$scratch"' EXIT

# The prompt that a reader would see, the demo, and a sign that everything has been drawn.
cat >"$scratch/session" <<SESSION
printf '\$ %s\n' "omniphi demo${arguments[*]:+ ${arguments[*]}}"
omniphi demo ${arguments[*]@Q}
echo \$? >"$scratch/status"
printf '\e[?25l'
sleep 60
SESSION

Xvfb -displayfd 3 -screen 0 1000x1400x24 -nolisten tcp 3>"$scratch/display" 2>"$scratch/xvfb.log" &
pids+=($!)
for _ in {1..100}; do [[ -s "$scratch/display" ]] && break || sleep 0.1; done
DISPLAY=":$(cat "$scratch/display")"
export DISPLAY
# A vt340 shows sixels; without NO_COLOR, and with the program on PATH, as one has it after `make install`.
PATH="$(dirname "$program"):$PATH" OMNIPHI_DATA="${OMNIPHI_DATA:-$PWD}" NO_COLOR='' \
  xterm -ti vt340 -geometry "${columns}x${rows}+0+0" -fa 'DejaVu Sans Mono' -fs 9 -bg '#1d1f21' -fg '#e0e0e0' -b 8 \
  -xrm 'XTerm*numColorRegisters: 256' -xrm 'XTerm*utf8: 1' -xrm 'XTerm*scrollBar: false' -xrm 'XTerm*privateColorRegisters: true' \
  -e bash "$scratch/session" 2>"$scratch/xterm.log" &
pids+=($!)
for _ in {1..600}; do [[ -s "$scratch/status" ]] && break || sleep 0.1; done
[[ -s "$scratch/status" && "$(cat "$scratch/status")" == 0 ]] || { echo "$0: omniphi demo failed" >&2; cat "$scratch"/*.log >&2; exit 1; }
sleep 1  # the terminal draws what has arrived

mkdir -p "$(dirname "$picture")"
# Trimmed of the screen around the terminal, then of the terminal's empty rows.
xwd -root -silent -out "$scratch/screen.xwd"
convert "xwd:$scratch/screen.xwd" -trim +repage -trim +repage -bordercolor '#1d1f21' -border 8 -strip -colors 128 \
  -define png:compression-level=9 "$picture"
echo "$picture: $(stat -c %s "$picture") bytes"
