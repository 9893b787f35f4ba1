#!/bin/sh
# Renders, trains, measures and writes the pocket VLM and its earlier state below var/pocket; goes on where it stopped.
set -eu
PYTHON="${PYTHON:-python}"
WORK=var/pocket
EARLY=step_500
export PYTHONPATH=.

both() { # renders for both domains side by side
    OMP_NUM_THREADS=1 "$PYTHON" -m tools.pocket.render --domain driving "$@" &
    driving=$!
    OMP_NUM_THREADS=1 "$PYTHON" -m tools.pocket.render --domain indoor "$@"
    wait "$driving"
}

both --purpose validation --shards 4
both --purpose train
"$PYTHON" -m tools.pocket.train --resume

"$PYTHON" -m tools.pocket.train --start "$WORK/run/joint/best.pt" --export "$WORK/models/pocket"
"$PYTHON" -m tools.pocket.train --start "$WORK/run/joint/$EARLY.pt" --export "$WORK/models/pocket-early"

sized="--width 320 --height 240 --quality standard"
for shards in "driving 48" "indoor 32"; do
    # shellcheck disable=SC2086 # the words are apart on purpose
    set -- $shards
    # shellcheck disable=SC2086
    "$PYTHON" -m tools.pocket.render --domain "$1" --purpose evaluation-small --draws small --shards "$2" $sized
    # shellcheck disable=SC2086
    "$PYTHON" -m tools.pocket.render --domain "$1" --purpose evaluation-random --draws random --shards 16 $sized
done
for name in pocket pocket-early; do
    "$PYTHON" -m tools.pocket.evaluate --checkpoint "$WORK/models/$name" --out "$WORK/evaluation-$name.json"
done
"$PYTHON" -m tools.pocket.degrade --checkpoint "$WORK/models/pocket" --out "$WORK/degradation.json"

note="Trained by make pocket."
"$PYTHON" -m tools.pocket.card --name pocket --folder "$WORK/models/pocket" --note "$note" \
    --evaluation "$WORK/evaluation-pocket.json" --degradation "$WORK/degradation.json"
"$PYTHON" -m tools.pocket.card --name pocket-early --folder "$WORK/models/pocket-early" --note "$note" \
    --evaluation "$WORK/evaluation-pocket-early.json"
echo "Done: copy $WORK/models/pocket and $WORK/models/pocket-early to vlmlab/assets when their cards satisfy you."
