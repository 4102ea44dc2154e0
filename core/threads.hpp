#pragma once

namespace microtape {

/// How many threads the kernels use, the calling one included. At first: what the environment has
/// as MICROTAPE_NUM_THREADS, or else as many as the machine has processors. No result depends on
/// it.
/// @throws ValueError if MICROTAPE_NUM_THREADS is no number from 1 to 1024; large computations then
///         throw it, too
int num_threads();

/// Sets it, and ends the threads that there were; set_num_threads(1) leaves none but the caller's.
/// New ones start with the first computation that is large enough. Call it while nothing computes.
/// @throws ValueError if n is below 1 or above 1024
void set_num_threads(int n);

}  // namespace microtape
