"""Runs our benchmarks and PyTorch's in turn and writes docs/performance.md: compare.py FOLDER ROUNDS

A ratio is our time / their time in one round; the table has the median of the rounds and the span.
"""
import glob
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "performance.md"
SHAPES = ["4/32/64/4", "8/128/256/8", "4/512/512/8", "1/1024/768/12"]
OPS = ["add_4_constant", "add_4_leaf", "mul_4_constant", "mul_4_leaf", "tanh_4",
       "matmul_8x8_constant", "matmul_8x8_leaf", "scalar_mul_constant", "scalar_mul_leaf"]

# What helps PyTorch: blocks that stay with the process, and the BLAS that shares its threads.
OPENMP_BLAS = glob.glob("/usr/lib/*/openblas-openmp")
TUNED = {
    "MALLOC_MMAP_THRESHOLD_": "2000000000",
    "MALLOC_TRIM_THRESHOLD_": "4000000000",
    "MALLOC_TOP_PAD_": "67108864",
    "OPENBLAS_CORETYPE": "Haswell",
    "OMP_PROC_BIND": "true",
    "LD_LIBRARY_PATH": OPENMP_BLAS[0] if OPENMP_BLAS else "",
}


def run(command, environment=None):
    """What a program prints, once it is done."""
    result = subprocess.run(command, env={**os.environ, **(environment or {})},
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return result.stdout


def google(program, pattern, seconds, environment=None):
    """Google Benchmark's results by name."""
    out = run([program, f"--benchmark_filter={pattern}", "--benchmark_format=json",
               f"--benchmark_min_time={seconds}"], environment)
    return {b["name"].removesuffix("/real_time"): b for b in json.loads(out)["benchmarks"]}


def busy():
    """Seconds of all processors since the start, and how many processors there are."""
    with open("/proc/stat") as file:
        numbers = [float(n) for n in file.readline().split()[1:9]]
    idle = numbers[3] + numbers[4]
    return sum(numbers) - idle, sum(numbers)


class Ratios:
    """The rounds of one line of the table."""

    def __init__(self):
        self.rounds = []

    def add(self, ours, theirs):
        self.rounds.append(ours / theirs)

    def __str__(self):
        low, high = min(self.rounds), max(self.rounds)
        return f"{statistics.median(self.rounds):.3f} ({low:.3f} .. {high:.3f})"


def compare_ops(folder, rounds):
    ratios = {name: Ratios() for name in OPS}
    for _ in range(rounds):
        ours = google(folder / "benchmark_ops", "chain", 0.2)
        theirs = google(folder / "torch_ops", "chain", 0.2)
        for name in OPS:
            ratios[name].add(ours[f"chain/{name}"]["real_time"], theirs[f"chain/{name}"]["real_time"])
    lines = ["| one op: forward, backward, clear | ours / LibTorch | 1 / |", "|---|---|---|"]
    for name in OPS:
        inverse = 1 / statistics.median(ratios[name].rounds)
        lines.append(f"| {name} | {ratios[name]} | {inverse:.1f} |")
    return lines


def torch_attention(folder, shape, environment):
    """The better of nn.MultiheadAttention and what is composed of ops, in ms; and the module's growth."""
    composed = google(folder / "torch_attention", f"{shape}/real_time", 0.5, environment)
    module = json.loads(run(
        [sys.executable, HERE / "peers" / "torch_attention.py", *shape.split("/"), "0.5"], environment))
    return min([module["ms"], *(b["real_time"] for b in composed.values())]), module["growth"]


def compare_attention(folder, rounds):
    lines = ["| attention: B/T/E/H | threads | ours / PyTorch as installed | ours / PyTorch tuned "
             "| peak memory of a step, ours / nn.MultiheadAttention |", "|---|---|---|---|---|"]
    for shape in SHAPES:
        for threads in [1, 2]:
            count = {"OMP_NUM_THREADS": str(threads), "MICROTAPE_THREADS": str(threads)}
            installed, tuned, memory = Ratios(), Ratios(), Ratios()
            for _ in range(rounds):
                ours = google(folder / "benchmark_attention", f"{shape}/real_time", 0.5, count)
                ours = ours[f"attention/{shape}"]
                plain, growth = torch_attention(folder, shape, count)
                best, _ = torch_attention(folder, shape, {**count, **TUNED})
                installed.add(ours["real_time"], plain)
                tuned.add(ours["real_time"], best)
                if min(ours["growth"], growth) > 2**20:  # less is lost in what the allocators round
                    memory.add(ours["growth"], growth)
            shown = memory if memory.rounds else "too small to tell"
            lines.append(f"| {shape} | {threads} | {installed} | {tuned} | {shown} |")
    return lines


def compare_gpt(folder, rounds):
    lines = ["| a training step of a GPT (width 64, depth 4, 64 tokens) | ours / PyTorch |", "|---|---|"]
    for batch in [1, 16]:
        ratios = Ratios()
        for _ in range(rounds):
            ours = google(folder / "benchmark_gpt", f"gpt_step/{batch}/real_time", 0.5)
            theirs = json.loads(run([sys.executable, HERE / "peers" / "torch_gpt.py", str(batch), "1"],
                                    {"OMP_NUM_THREADS": "1"}))
            ratios.add(ours[f"gpt_step/{batch}"]["real_time"], theirs["ms"])
        lines.append(f"| batch {batch}, 1 thread | {ratios} |")
    return lines


def measure_alone(folder):
    """What has no peer."""
    million = google(folder / "benchmark_memory", "million", 0.2)
    ops = google(folder / "benchmark_ops", "read_l2|softmax|matmul_square", 0.2)
    l2 = ops["read_l2"]["bytes_per_second"]
    lines = ["| alone | |", "|---|---|"]
    for name in ["add", "tanh"]:
        lines.append(f"| bytes a node on a tape of 10^6, {name} "
                     f"| {million[f'million/{name}']['bytes_a_node']:.0f} |")
    for name in ["softmax_forward", "softmax_forward_backward"]:
        lines.append(f"| {name}, share of the bandwidth of reading the second-level cache "
                     f"| {ops[name]['bytes_per_second'] / l2:.2f} |")
    return lines


def machine():
    """What the numbers depend on."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    torch = run([sys.executable, "-c", "import torch; print(torch.__version__)"]).strip()
    compiler = run(["c++", "--version"]).splitlines()[0]
    blas = os.path.basename(os.path.realpath((glob.glob("/usr/lib/*/libopenblas.so.0") + ["?"])[0]))
    return (f"{len(names)} x {names[0]}; {platform.platform()}; {compiler}; BLAS {blas}; "
            f"PyTorch {torch}")


def main():
    folder, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    start = busy()
    parts = [compare_ops(folder, rounds), compare_attention(folder, rounds),
             compare_gpt(folder, rounds), measure_alone(folder)]
    end = busy()
    table = "\n\n".join("\n".join(part) for part in parts)
    load = (end[0] - start[0]) / (end[1] - start[1])
    page = f"""# Performance

Written by `tests/benchmarks/compare.sh`: MicroTape and PyTorch in turn, {rounds} rounds. A ratio is our time
divided by theirs in the same round; the median, and in parentheses the span. Below 1 we are faster. "Tuned"
is PyTorch with blocks that stay with the process and an OpenBLAS that shares its threads. Attention is
forward and backward with the gradients of all parameters, float32; the faster of nn.MultiheadAttention and
a version composed of ops counts.

{table}

Measured on {machine()}. All processors together were {load:.0%} busy.
"""
    PAGE.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
