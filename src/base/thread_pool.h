// A fixed set of threads that run one loop at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace omniphi {

// parallel_for hands out indices one by one, so which thread runs an index is not fixed: kernels split work over output
// elements only, and no result depends on the split (docs/numerics.md). Starting a loop allocates nothing. One loop
// runs at a time; a loop that is started from inside another one runs on the calling thread.
class ThreadPool {
 public:
  // `threads` counts the caller; 0 means one for each core that this process may use.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(index, thread) for every index in [0, count), thread in [0, threads()). Returns when all have ended. The
  // body must not throw.
  template <typename Body>
  void parallel_for(int64_t count, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run(
        count, [](void* context, int64_t index, int thread) { (*static_cast<Plain*>(context))(index, thread); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Call = void (*)(void* context, int64_t index, int thread);
  void run(int64_t count, Call call, void* context);
  void work(int thread);
  void drain(int thread);

  std::vector<std::thread> workers_;
  // One loop's description, written before generation_ is raised.
  Call call_ = nullptr;
  void* context_ = nullptr;
  int64_t count_ = 0;
  std::atomic<int64_t> next_{0};
  std::atomic<int> busy_{0};
  std::atomic<uint32_t> generation_{0};
  std::atomic<bool> stop_{false};
};

// Cores that this process may run on (the affinity mask, not the machine).
int available_cores();

}  // namespace omniphi
