#include "request/base64.h"

#include <gtest/gtest.h>

namespace omniphi {
namespace {

// RFC 4648, section 10.
TEST(Base64, DecodesTheVectorsOfTheRfc) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"Zg==", "f"},
                                                       {"Zm8=", "fo"},
                                                       {"Zm9v", "foo"},
                                                       {"Zm9vYg==", "foob"},
                                                       {"Zm9vYmE=", "fooba"},
                                                       {"Zm9vYmFy", "foobar"}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(decode_base64(text), bytes) << text;
}

TEST(Base64, DecodesEveryByteValue) {
  // base64.b64encode(bytes([0, 255, 251, 62, 63])) in Python
  EXPECT_EQ(decode_base64("AP/7Pj8="), std::string("\x00\xff\xfb\x3e\x3f", 5));
}

TEST(Base64, EncodesTheVectorsOfTheRfcAndEveryByteValue) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"Zg==", "f"},
                                                       {"Zm8=", "fo"},
                                                       {"Zm9v", "foo"},
                                                       {"Zm9vYg==", "foob"},
                                                       {"Zm9vYmE=", "fooba"},
                                                       {"Zm9vYmFy", "foobar"}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(encode_base64(bytes), text);
  EXPECT_EQ(encode_base64(std::string("\x00\xff\xfb\x3e\x3f", 5)), "AP/7Pj8=");
}

TEST(Base64, SkipsLineBreaks) { EXPECT_EQ(decode_base64("Zm9v\r\nYmFy\n"), "foobar"); }

TEST(Base64, RefusesWhatIsNotBase64) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zm9v=", "Zh==", "Zm9=", "Zm-v", "Zm_v",
                           "Zg==Zg==", "Zm.v", "Z=g=", "Zm9vYg=a"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

TEST(Percent, DecodesAndRefuses) {
  EXPECT_EQ(decode_percent("a%20b%C3%a9"), "a b\xc3\xa9");
  for (const char* text : {"%", "%4", "%zz", "abc%"}) EXPECT_EQ(decode_percent(text), std::nullopt) << text;
}

TEST(DataUrlTest, ReadsTypeAndBytes) {
  const auto url = decode_data_url("data:Image/PNG;base64,Zm9v");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->media_type, "image/png");
  EXPECT_EQ(url->bytes, "foo");
  EXPECT_EQ(decode_data_url("data:audio/wav;rate=8000;base64,Zm8%3D")->bytes, "fo");
  EXPECT_EQ(decode_data_url("DATA:,a%20b")->bytes, "a b");
  EXPECT_EQ(decode_data_url("data:,")->media_type, "");
}

TEST(DataUrlTest, RefusesWhatIsNone) {
  for (const char* url : {"data:image/png;base64", "data:image/png;base64,Zg", "http://a,b", "data", "data:,%"}) {
    EXPECT_FALSE(decode_data_url(url)) << url;
  }
}

}  // namespace
}  // namespace omniphi
