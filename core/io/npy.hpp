#pragma once

#include <string>

#include <microtape/core/tensor.hpp>

namespace microtape {

/// Reads what numpy.save wrote: one array in the .npy format, version 1.0, 2.0 or 3.0. Numbers
/// keep their values, whatever their byte order (`<`, `>`, `=`), and come out in row-major order
/// also from a file in Fortran order:
///
///     in the file                     Tensor
///     f2, f4                          float32
///     f8                              float64
///     i1, i2, i4, i8, u1, u2, u4      int64
///     b1                              int64: 0, or 1 for a byte that is not 0
///
/// `read_npy(path).to(float32)` is float32 in any case. u8 is refused, since int64 cannot hold all
/// of it; so are complex numbers, strings, records and Python objects.
/// @param path  in UTF-8; a std::filesystem::path turns into it
/// @throws FileError that names the path and what is wrong: a file that is missing, truncated, or
///         goes on after the array; another magic string or version; a header that is not
///         {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} in some order; a dtype that is
///         not in the table; more than 8 axes, a negative extent, more than 2^59 numbers
/// Source: R. Kern, NEP 1, "A simple file format for NumPy arrays", 2007; for later versions, the
///         documentation of numpy.lib.format.
Tensor read_npy(const std::string& path);

/// Writes such a file, for numpy.load: byte by byte what numpy.save writes for the same array in
/// row-major order. It is written beside `path`, then renamed, so that a failure leaves what was
/// there before.
/// @throws FileError that names the path; ValueError if the tensor has no value
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace microtape
