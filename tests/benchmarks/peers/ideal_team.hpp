#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "ideal_matrix.hpp"

namespace ideal {

/// Threads that look for work all the time: it comes every few microseconds.
class Team {
 public:
  using Work = std::function<void(Index)>;

  explicit Team(Index size) : size_(size) {
    for (Index i = 1; i < size; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  ~Team() {
    announce(nullptr);
    for (std::thread& thread : threads_) thread.join();
  }

  /// What thread i takes of n things.
  Range part(Index n, Index i) const { return {n * i / size_, n * (i + 1) / size_}; }
  /// work(i) on each thread i; the caller is 0.
  void run(const Work& work) {
    announce(&work);
    work(0);
    while (busy_ > 0) std::this_thread::yield();
  }

 private:
  void announce(const Work* work) {
    work_ = work;
    busy_ = size_ - 1;
    ++round_;
  }
  void serve(Index i) {
    for (int seen = 0;; ++seen) {
      while (round_ == seen) std::this_thread::yield();
      if (!work_) return;
      (*work_)(i);
      --busy_;
    }
  }

  Index size_;
  const Work* work_ = nullptr;
  std::atomic<Index> busy_{0};
  std::atomic<int> round_{0};
  std::vector<std::thread> threads_;
};

}  // namespace ideal
