#include "text/byte_level.h"

#include <gtest/gtest.h>

#include <set>

#include "base/utf8.h"

namespace omniphi {
namespace {

TEST(ByteLevel, EveryByteHasOneCharacter) {
  std::set<std::string> bytes;
  for (char32_t code = 0; code < 0x200; ++code) {
    std::string spelling;
    append_code_point(code, &spelling);
    if (const auto found = bytes_of_spelling(spelling)) bytes.insert(*found);
  }
  EXPECT_EQ(bytes.size(), 256u);
  for (const std::string& byte : bytes) EXPECT_EQ(byte.size(), 1u);
}

TEST(ByteLevel, KnownSpellings) {
  EXPECT_EQ(bytes_of_spelling("\u0120hello"), " hello");  // as every released vocabulary writes the space
  EXPECT_EQ(bytes_of_spelling("\u010A"), "\n");
  EXPECT_EQ(bytes_of_spelling("\u010D\u010A"), "\r\n");
  EXPECT_EQ(bytes_of_spelling("\u00E2\u0124\u00AC"), "\xE2\x82\xAC");
  EXPECT_EQ(bytes_of_spelling("\u0100"), std::string(1, '\0'));
  EXPECT_EQ(bytes_of_spelling("\u0143"), "\xAD");  // the last of the 68
}

TEST(ByteLevel, OtherCharactersAreNoSpelling) {
  EXPECT_EQ(bytes_of_spelling(" a"), std::nullopt);
  EXPECT_EQ(bytes_of_spelling("\u0144"), std::nullopt);
  EXPECT_EQ(bytes_of_spelling("\u00AD"), std::nullopt);
  EXPECT_EQ(bytes_of_spelling("\U0001F600"), std::nullopt);
  EXPECT_EQ(bytes_of_spelling(""), "");
}

}  // namespace
}  // namespace omniphi
