#!/usr/bin/env bash
# Makes .venv with the libraries that the developer-only scripts of tools/ compare with. Nothing that is shipped or that
# ctest runs needs it.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -x .venv/bin/python ]] || python3 -m venv .venv
.venv/bin/pip install --quiet --requirement tools/reference_requirements.txt
.venv/bin/python - <<'PYTHON'
import numpy, safetensors, scipy, tokenizers, torch, transformers
for module in (numpy, safetensors, scipy, tokenizers, torch, transformers):
    print(f"{module.__name__} {module.__version__}")
PYTHON
