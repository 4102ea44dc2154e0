#!/usr/bin/env python3
"""Writes npy/*.npy with NumPy, and npy/values.json: what is in them, as NumPy says.

    python3 tests/reference/generate_npy.py

Made with NumPy 1.24.2. The files are kept under version control; no test needs Python.
"""

import json
import math
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "npy"
values = {}


def dtype_of(array):
    """What MicroTape makes of NumPy's dtype."""
    if array.dtype.kind == "f":
        return "float64" if array.dtype.itemsize == 8 else "float32"
    return "int64"


def number(x):
    x = int(x) if isinstance(x, bool) else x
    return x if isinstance(x, int) or math.isfinite(x) else str(x)


def save(name, array, version=None):
    array = np.asanyarray(array)
    with open(FOLDER / f"{name}.npy", "wb") as file:
        if version:
            np.lib.format.write_array(file, array, version)
        else:
            np.save(file, array)
    values[name] = {
        "dtype": dtype_of(array),
        "shape": list(array.shape),
        "data": [number(x) for x in array.ravel().tolist()],
        # Whether numpy.save writes the same bytes for what MicroTape made of it.
        "same_again": version is None
        and array.dtype.str in ("<f4", "<f8", "<i8")
        and not np.isfortran(array),
    }


def save_refused(name, array):
    np.save(FOLDER / f"{name}.npy", array, allow_pickle=True)


FOLDER.mkdir(exist_ok=True)

# Case G08 of tests/cases/cases.json.
a = np.arange(12.0).reshape(3, 4)
save("a_T", a.T)
save("a_columns", a[:, ::2])
save("a_reversed", a[::-1])
save("a_one", a[1:2, 3])
save("a_big_endian", a.astype(">f8"))
save("a_int", a.astype(int))
save("scalar", np.float32(1.5))
save_refused("ragged", np.array([[1, 2], [3]], dtype=object))
save_refused("text", np.array(["x"]))

# Every dtype at its ends, in both byte orders.
halves = [0.0, -0.0, 1, -2, 0.1, 65504, 6e-08, 6.1e-05, 6.104e-05, np.inf, -np.inf, np.nan]
for order in "<>":
    name = "little" if order == "<" else "big"
    save(f"f2_{name}", np.array(halves, order + "f2"))
    save(f"f4_{name}", np.array([0.1, -3.4028235e38, 1e-45, -0.0, np.inf, np.nan], order + "f4"))
    save(f"f8_{name}", np.array([0.1, -1e300, 5e-324, -0.0, -np.inf, np.nan], order + "f8"))
    for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4"):
        if kind[1] == "1" and order == ">":
            continue
        info = np.iinfo(kind)
        numbers = [info.min, info.min + 1, 0, 1, 100, info.max - 1, info.max]
        save(f"{kind}_{name}", np.array(numbers, order + kind))
save("b1", np.array([[True, False], [False, True]]))
save("fortran_i2", np.asfortranarray(np.arange(-12, 12, dtype=">i2").reshape(2, 3, 4)))

# Shapes and headers.
save("nothing", np.zeros((0,), "<f4"))
save("nothing_fortran", np.zeros((3, 0, 2), "<f8", order="F"))
save("eight_axes", np.arange(8, dtype="<f4").reshape(1, 2, 1, 2, 1, 2, 1, 1))
save("long_extents", np.zeros((1234567, 0, 89, 1), "<i8"))
save("long_header", np.zeros((0, 10**9, 10, 10, 10, 10, 10, 10**3), "<f4"))
save("version_2", np.array([[1, 2, 3]], "<f8"), version=(2, 0))
save("version_3", np.array([[1, 2, 3]], "<f8"), version=(3, 0))

save_refused("complex", np.array([1j], "<c8"))
save_refused("date", np.array(["2020-01-01"], "<M8[D]"))
save_refused("record", np.array([(1, 2.0)], [("x", "<i4"), ("y", "<f8")]))
save_refused("u8", np.array([2**64 - 1], "<u8"))

with open(FOLDER / "values.json", "w") as file:
    lines = [f'  "{name}": {json.dumps(value)}' for name, value in values.items()]
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
