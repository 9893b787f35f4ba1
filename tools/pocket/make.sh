#!/bin/sh
# Renders, trains, measures and writes the pocket VLM and its earlier state below var/pocket; goes on where it stopped.
set -eu
PYTHON="${PYTHON:-python}"
WORK=var/pocket
EARLY=200
export PYTHONPATH=.

driving=""
trap '[ -z "$driving" ] || kill "$driving" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

both() { # renders for both domains side by side
    OMP_NUM_THREADS=1 "$PYTHON" -m tools.pocket.render --domain driving "$@" &
    driving=$!
    OMP_NUM_THREADS=1 "$PYTHON" -m tools.pocket.render --domain indoor "$@"
    wait "$driving"
    driving=""
}

both --purpose validation --shards 4
both --purpose train
for phase in language vision bridge joint; do
    workers=2
    [ "$phase" != vision ] || workers=1 # as the shipped model was made
    "$PYTHON" -m tools.pocket.train --phase "$phase" --workers "$workers" --resume
done

set -- --width 320 --height 240 --quality standard
both --purpose evaluation-small --draws small --shards 48 "$@"
both --purpose evaluation-random --draws random --shards 16 "$@"
both --purpose evaluation-several --draws several --shards 10 "$@"

for name in pocket pocket-early; do
    state=best
    [ "$name" = pocket ] || state="step_$EARLY"
    "$PYTHON" -m tools.pocket.train --start "$WORK/run/joint/$state.pt" --export "$WORK/models/$name"
    "$PYTHON" -m tools.pocket.evaluate --checkpoint "$WORK/models/$name" --out "$WORK/evaluation-$name.json"
done
"$PYTHON" -m tools.pocket.degrade --checkpoint "$WORK/models/pocket" --out "$WORK/degradation.json"

note="Trained by make pocket."
"$PYTHON" -m tools.pocket.card --name pocket --folder "$WORK/models/pocket" --note "$note" \
    --evaluation "$WORK/evaluation-pocket.json" --degradation "$WORK/degradation.json"
"$PYTHON" -m tools.pocket.card --name pocket-early --folder "$WORK/models/pocket-early" --note "$note" \
    --evaluation "$WORK/evaluation-pocket-early.json" --last-step "$EARLY"
echo "Done: copy $WORK/models/pocket and $WORK/models/pocket-early to vlmlab/assets when their cards satisfy you."
