#pragma once

// Internal: locks that a child of fork() finds open.

#if __has_include(<unistd.h>)
#include <pthread.h>
#endif

namespace microtape {

/// A child of fork() has only the thread that called it: what another one holds then would stay
/// locked there for ever, and half changed. From now on fork() first waits until nobody does.
/// What another thread is about to make would not be made there either: make it as the program
/// starts.
/// @tparam object  a function that returns `first`
/// @tparam in_child  is called in the child before the mutex is open again
/// @param first  has a `mutex`, and lives until the process ends
/// @return first
template <auto object, auto in_child = [] {}, class T>
T& hold_for_fork(T& first) {
#if __has_include(<unistd.h>)
  // Without memory for these, fork() does without them.
  static_cast<void>(pthread_atfork([] { object().mutex.lock(); }, [] { object().mutex.unlock(); },
      [] {
        in_child();
        object().mutex.unlock();
      }));
#endif
  return first;
}

}  // namespace microtape
