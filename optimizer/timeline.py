"""What Nsight Systems knows of a whole run: counters by kernel that ncu cannot have.

ncu replays kernels one by one, so what lies between them is lost. These names stand beside ncu's in
`Verdict.counters`, as `KERNEL/nsys__…`; `runners/nsys.py` fills them.
"""

from __future__ import annotations

LAUNCHES = "nsys__launches.sum"
TIME_NS = "nsys__time.avg"
# Nothing ran on the GPU just before a launch of this kernel: mean time, share of the whole run from
# the first to the last activity of the GPU.
GAP_NS = "nsys__gap_before.avg"
GAP_PCT = "nsys__gap_before.pct"
# Copies between host and device alone ran just before a launch: share of the whole run.
COPY_PCT = "nsys__copies_before.pct"
