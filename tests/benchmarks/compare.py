"""Runs our benchmarks and PyTorch's in turn: compare.py FOLDER ROUNDS

Writes its tables into docs/performance.md, between two lines there; what stands around them stays.
A ratio is our time / their time in one round; the table has the median of the rounds and the span.
"""
import glob
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- BEGIN TABLES -->\n", "<!-- END TABLES -->\n"
SHAPES = ["4/32/64/4", "8/128/256/8", "4/512/512/8", "1/1024/768/12"]
OPS = ["add_4_constant", "add_4_leaf", "mul_4_constant", "mul_4_leaf", "tanh_4",
       "matmul_8x8_constant", "matmul_8x8_leaf", "scalar_mul_constant", "scalar_mul_leaf"]

ONE_THREAD = {"MICROTAPE_NUM_THREADS": "1"}

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
    result = subprocess.run(command, env={**os.environ, **(environment or {})}, capture_output=True,
                            text=True)
    if result.returncode != 0:
        sys.exit(f"compare.py: {command[0]} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def google(program, pattern, seconds, environment=None):
    """Google Benchmark's results by name."""
    out = run([program, f"--benchmark_filter={pattern}", "--benchmark_format=json",
               f"--benchmark_min_time={seconds}"], environment)
    return {b["name"].removesuffix("/real_time"): b for b in json.loads(out)["benchmarks"]}


def processor_time():
    """Seconds of all processors since the machine started: those that others than we took, and all."""
    with open("/proc/stat") as file:
        ticks = [int(n) for n in file.readline().split()[1:9]]
    idle = ticks[3] + ticks[4]
    taken, whole = ((n / os.sysconf("SC_CLK_TCK")) for n in (sum(ticks) - idle, sum(ticks)))
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        taken -= sum(resource.getrusage(who)[:2])
    return taken, whole


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
        ours = google(folder / "benchmark_ops", "chain", 0.2, ONE_THREAD)
        theirs = google(folder / "torch_ops", "chain", 0.2)
        for name in OPS:
            ratios[name].add(ours[f"chain/{name}"]["real_time"], theirs[f"chain/{name}"]["real_time"])
    lines = ["| one op: forward, backward, clear | ours / LibTorch | LibTorch / ours |", "|---|---|---|"]
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
             "| ours / by hand | peak memory of a step, ours / nn.MultiheadAttention |",
             "|---|---|---|---|---|---|"]
    for shape in SHAPES:
        for threads in [1, 2]:
            count = {"OMP_NUM_THREADS": str(threads), "MICROTAPE_NUM_THREADS": str(threads)}
            installed, tuned, by_hand, memory = Ratios(), Ratios(), Ratios(), Ratios()
            for _ in range(rounds):
                ours = google(folder / "benchmark_attention", f"{shape}/real_time", 0.5, count)
                ours = ours[f"attention/{shape}"]
                ideal = google(folder / "ideal_attention", f"{shape}/real_time", 0.5, count)
                plain, growth = torch_attention(folder, shape, count)
                best, _ = torch_attention(folder, shape, {**count, **TUNED})
                installed.add(ours["real_time"], plain)
                tuned.add(ours["real_time"], best)
                by_hand.add(ours["real_time"], ideal[f"attention/{shape}"]["real_time"])
                if min(ours["growth"], growth) > 2**20:  # less is lost in what the allocators round
                    memory.add(ours["growth"], growth)
            shown = memory if memory.rounds else "too small to tell"
            lines.append(f"| {shape} | {threads} | {installed} | {tuned} | {by_hand} | {shown} |")
    return lines


def compare_gpt(folder, rounds):
    lines = ["| a training step of a GPT (width 64, depth 4, 64 tokens) | ours / PyTorch |", "|---|---|"]
    for batch in [1, 16]:
        ratios = Ratios()
        for _ in range(rounds):
            ours = google(folder / "benchmark_gpt", f"gpt_step/{batch}/real_time", 0.5, ONE_THREAD)
            theirs = json.loads(run([sys.executable, HERE / "peers" / "torch_gpt.py", str(batch), "1"],
                                    {"OMP_NUM_THREADS": "1"}))
            ratios.add(ours[f"gpt_step/{batch}"]["real_time"], theirs["ms"])
        lines.append(f"| batch {batch}, 1 thread | {ratios} |")
    return lines


def measure_steps(folder, rounds):
    """What each step buys: pairs of benchmarks, with it and without, close together in time."""
    names = run([folder / "benchmark_steps", "--benchmark_list_tests"]).splitlines()
    lines = ["| step | time with it / without |", "|---|---|"]
    for step in dict.fromkeys(name.split("/")[0] for name in names):
        ratio = Ratios()
        for _ in range(3 * rounds):
            found = google(folder / "benchmark_steps", f"^{step}/", 0.1, ONE_THREAD)
            ratio.add(*(found[f"{step}/{kind}"]["real_time"] for kind in ("with", "without")))
        lines.append(f"| {step} | {ratio} |")
    return lines


def measure_alone(folder):
    """What has no peer."""
    million = google(folder / "benchmark_memory", "million", 0.2, ONE_THREAD)
    ops = google(folder / "benchmark_ops", "read_l2|softmax|scalar", 0.5, ONE_THREAD)
    l2 = ops["read_l2"]["bytes_per_second"]
    lines = ["| alone | |", "|---|---|"]
    for name in ["add", "tanh"]:
        lines.append(f"| bytes a node on a tape of 10^6, {name} "
                     f"| {million[f'million/{name}']['bytes_a_node']:.0f} |")
    for name in ["scalar_mul_constant", "scalar_mul_leaf"]:
        lines.append(f"| ns an op, {name}: forward, backward, clear "
                     f"| {ops[f'chain/{name}']['op'] * 1e9:.0f} |")
    for name in ["softmax_forward", "softmax_forward_backward"]:
        lines.append(f"| {name}, share of the bandwidth of reading the second-level cache "
                     f"| {ops[name]['bytes_per_second'] / l2:.2f} |")
    return lines


def seconds(command):
    """How long a command takes to run, with nothing that an earlier one left in ccache."""
    start = time.perf_counter()
    run(command, {"CCACHE_DISABLE": "1"})
    return time.perf_counter() - start


def measure_build():
    """The library alone, into an empty folder, and a program that only includes it."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(["cmake", "--preset", "release", "-S", ROOT, "-B", folder, "-D", "BUILD_TESTING=OFF",
             "-D", "MICROTAPE_TUTORIALS=OFF", "-D", "CMAKE_CXX_COMPILER_LAUNCHER="])
        library = seconds(["cmake", "--build", folder, "--parallel", "2", "--target", "microtape"])
        program = folder / "program.cpp"
        program.write_text("#include <microtape/microtape.hpp>\n")
        compiler = ["c++", "-std=c++20", "-O0", "-I", folder / "include", program]
        parsed = seconds([*compiler, "-fsyntax-only"])
        compiled = seconds([*compiler, "-c", "-o", folder / "program.o"])
    return ["| to build | seconds |", "|---|---|",
            f"| the library alone, from nothing, 2 compilers at a time | {library:.0f} |",
            f"| a program that only includes `<microtape/microtape.hpp>`, -fsyntax-only | {parsed:.2f} |",
            f"| the same, -O0 -c | {compiled:.2f} |"]


def machine():
    """What the numbers depend on."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    torch = run([sys.executable, "-c", "import torch; print(torch.__version__)"]).strip()
    compiler = run(["c++", "--version"]).splitlines()[0]
    blas = os.path.basename(os.path.realpath((glob.glob("/usr/lib/*/libopenblas.so.0") + ["?"])[0]))
    return (f"{len(names)} x {names[0]}; {platform.platform()}; {compiler}; BLAS {blas}; "
            f"PyTorch {torch}")


def around_tables():
    """The page up to its tables, and from their end on."""
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"compare.py: {PAGE} lacks a line {BEGIN.strip()} and, below it, {END.strip()}")
    return before + begin, end + after


def main():
    folder, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    around_tables()  # fails now rather than after the measurement
    start = processor_time()
    parts = [measure_steps(folder, rounds), compare_ops(folder, rounds), compare_attention(folder, rounds),
             compare_gpt(folder, rounds), measure_alone(folder), measure_build()]
    end = processor_time()
    others = max(0, end[0] - start[0]) / (end[1] - start[1])
    tables = "\n\n".join("\n".join(part) for part in parts)
    tables += (f"\n\nWritten by `tests/benchmarks/compare.sh`, rounds: {rounds}, on {machine()}. "
               f"Other programs took {others:.1%} of the time of all processors.\n")
    before, after = around_tables()
    PAGE.write_text(f"{before}\n{tables}\n{after}")
    print(tables)


if __name__ == "__main__":
    main()
