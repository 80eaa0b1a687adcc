#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>

namespace omniphi {
namespace {

// True on a thread that is inside a loop: nested loops run where they are.
thread_local bool inside_loop = false;

// Loops of one decode step follow each other within microseconds, so a thread spins that long before it sleeps.
constexpr int kSpins = 4000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(int threads) {
  const int total = threads > 0 ? threads : available_cores();
  for (int i = 1; i < total; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::drain(int thread) {
  inside_loop = true;
  for (int64_t index; (index = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) call_(context_, index, thread);
  inside_loop = false;
}

void ThreadPool::run(int64_t count, Call call, void* context) {
  if (count <= 0) return;
  if (workers_.empty() || inside_loop || count == 1) {
    for (int64_t index = 0; index < count; ++index) call(context, index, 0);
    return;
  }
  call_ = call;
  context_ = context;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  drain(0);
  for (int spins = 0;; ++spins) {
    const int busy = busy_.load(std::memory_order_acquire);
    if (busy == 0) return;
    if (spins < kSpins) {
      relax();
    } else {
      busy_.wait(busy);
    }
  }
}

void ThreadPool::work(int thread) {
  uint32_t seen = 0;
  while (true) {
    for (int spins = 0; generation_.load(std::memory_order_acquire) == seen; ++spins) {
      if (spins < kSpins) {
        relax();
      } else {
        generation_.wait(seen);
      }
    }
    ++seen;
    if (stop_.load()) return;
    drain(thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

}  // namespace omniphi
