#include "base/cpu.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace omniphi {
namespace {

class ForcedIsa : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("OMNIPHI_ISA"); }
};

TEST_F(ForcedIsa, TakesTheFastestUnlessForced) {
  unsetenv("OMNIPHI_ISA");
  EXPECT_EQ(choose_isa(), supported_isas().back());
  for (const Isa isa : supported_isas()) {
    setenv("OMNIPHI_ISA", isa_name(isa), 1);
    EXPECT_EQ(choose_isa(), isa);
  }
}

TEST_F(ForcedIsa, RefusesWhatItDoesNotKnow) {
  setenv("OMNIPHI_ISA", "neon9", 1);
  try {
    choose_isa();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.where(), "OMNIPHI_ISA");
    EXPECT_EQ(error.found(), "\"neon9\"");
    EXPECT_NE(error.expected().find("ref"), std::string::npos);
  }
}

TEST_F(ForcedIsa, RefusesWhatTheMachineLacks) {
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (isa_supported(isa)) continue;
    setenv("OMNIPHI_ISA", isa_name(isa), 1);
    EXPECT_THROW(choose_isa(), Error);
  }
}

}  // namespace
}  // namespace omniphi
