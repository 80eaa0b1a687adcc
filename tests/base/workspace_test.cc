#include "base/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace omniphi {
namespace {

TEST(Workspace, HandsOutAlignedMemoryThatStaysWhereItIs) {
  Workspace workspace;
  const Workspace::Mark outer(workspace);
  char* first = workspace.take<char>(10);
  std::memset(first, 1, 10);
  float* large = workspace.take<float>(3 << 20);  // more than the first slab
  large[0] = 2;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % 64, 0u);
  EXPECT_EQ(first[9], 1);
}

TEST(Workspace, AMarkGivesMemoryBack) {
  Workspace workspace;
  const Workspace::Mark outer(workspace);
  float* before = nullptr;
  {
    const Workspace::Mark mark(workspace);
    before = workspace.take<float>(100);
    workspace.take<float>(5 << 20);
  }
  const size_t peak = workspace.high_water();
  for (int i = 0; i < 100; ++i) {
    const Workspace::Mark mark(workspace);
    EXPECT_EQ(workspace.take<float>(100), before);
    workspace.take<float>(5 << 20);
  }
  EXPECT_EQ(workspace.high_water(), peak);
}

}  // namespace
}  // namespace omniphi
