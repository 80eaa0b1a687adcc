#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace omniphi {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const int threads : {1, 2, 4, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
      pool.parallel_for(count, [&](int64_t index, int thread) {
        EXPECT_GE(thread, 0);
        EXPECT_LT(thread, threads);
        ++hits[static_cast<size_t>(index)];
      });
      for (const auto& hit : hits) EXPECT_EQ(hit, 1);
    }
  }
}

TEST(ThreadPool, ManyLoopsInARowAndLoopsAfterASleep) {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  for (int loop = 0; loop < 2000; ++loop) pool.parallel_for(5, [&](int64_t index, int) { total += index; });
  EXPECT_EQ(total, 2000 * 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // by now the workers sleep
  pool.parallel_for(5, [&](int64_t index, int) { total += index; });
  EXPECT_EQ(total, 2001 * 10);
}

TEST(ThreadPool, ALoopInsideALoopRunsWhereItIs) {
  ThreadPool pool(2);
  std::atomic<int> total{0};
  pool.parallel_for(4, [&](int64_t, int) { pool.parallel_for(8, [&](int64_t, int) { ++total; }); });
  EXPECT_EQ(total, 32);
}

}  // namespace
}  // namespace omniphi
