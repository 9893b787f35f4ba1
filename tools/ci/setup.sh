#!/bin/sh
# Makes the virtual environment and installs one requirements file; does nothing when neither changed.
# usage: PYTHON=python3.11 VENV=.venv PIP_FLAGS="" sh tools/ci/setup.sh requirements.txt
set -eu

requirements=$1
is_right_python() {
    "$1" -c 'import sys; raise SystemExit(sys.version_info[:2] != (3, 11))' 2>/dev/null
}

if [ ! -x "$VENV/bin/python" ]; then
    found=""
    for candidate in "$PYTHON" python3.11 python3 python; do
        if command -v "$candidate" >/dev/null && is_right_python "$candidate"; then
            found=$candidate
            break
        fi
    done
    if [ -z "$found" ]; then
        echo "VLM Lab needs Python 3.11 and found none." >&2
        echo "Install it (Debian: apt-get install python3.11-venv; macOS: brew install python@3.11)," >&2
        echo "or name it: make setup PYTHON=/path/to/python3.11" >&2
        exit 1
    fi
    echo "Making $VENV with $("$found" --version)."
    if ! "$found" -m venv "$VENV"; then
        echo "Python could not make a virtual environment (Debian: apt-get install python3.11-venv)." >&2
        rm -rf "$VENV"
        exit 1
    fi
fi

if ! is_right_python "$VENV/bin/python"; then
    echo "$VENV holds another Python than 3.11. Remove the folder and run make setup again." >&2
    exit 1
fi

stamp="$VENV/.installed-$(echo "$requirements" | tr '/' '-')"
wanted="$(cksum <"$requirements") $PIP_FLAGS"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi
echo "Installing $requirements; the first time this takes a few minutes."
# PIP_FLAGS is split into words on purpose.
# shellcheck disable=SC2086
"$VENV/bin/python" -m pip install --quiet $PIP_FLAGS -r "$requirements"
echo "$wanted" >"$stamp"
