"""The web process prepares itself while it starts."""

import subprocess
import sys


def test_warming_up_loads_the_library_behind_exact_intervals():
    code = (
        "import sys; from vlmlab.serve.web import warm_up; "
        "before = 'scipy.special' in sys.modules; warm_up(); print(before, 'scipy.special' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True"]
