"""benchmark_attention.cpp with PyTorch's nn.MultiheadAttention: torch_attention.py B T E H SECONDS

Prints the mean time of a step in ms, and by how much the peak memory grows in one, in bytes.
"""
import json
import os
import statistics
import sys
import time

import torch


def status(field):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024


batch, length, width, heads = map(int, sys.argv[1:5])
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
torch.manual_seed(0)
layer = torch.nn.MultiheadAttention(width, heads, batch_first=True)
x = torch.randn(batch, length, width, requires_grad=True)


def step():
    layer.zero_grad(set_to_none=True)
    x.grad = None
    layer(x, x, x, need_weights=False)[0].sum().backward()


before = status("VmRSS")
step()
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
step()
growth = status("VmHWM") - before
times, end = [], time.perf_counter() + float(sys.argv[5])
while len(times) < 5 or time.perf_counter() < end:
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
print(json.dumps({"ms": statistics.fmean(times) * 1e3, "growth": growth}))
