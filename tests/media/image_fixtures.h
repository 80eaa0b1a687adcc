// The small image files of tests/fuzz/corpus/image and the pixels that tools/make_image_fixtures.py expects of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "media/image.h"
#include "testing/golden.h"

namespace omniphi::testing {

inline std::vector<uint8_t> from_base64(const std::string& text) {
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((held += 6) >= 8) bytes.push_back(static_cast<uint8_t>(bits >> (held -= 8)));
  }
  return bytes;
}

struct ImageFixture {
  std::string name, bytes;
  Image viewer, reference;
};

inline std::vector<ImageFixture> image_fixtures() {
  const std::string root = OMNIPHI_SOURCE_DIR;
  std::vector<ImageFixture> fixtures;
  const nlohmann::json table = read_test_json(root + "/tests/media/data/images.json");
  for (const auto& [name, entry] : table.items()) {
    ImageFixture fixture;
    fixture.name = name;
    fixture.bytes = read_test_file(root + "/tests/fuzz/corpus/image/" + name);
    fixture.viewer.width = entry.at("width");
    fixture.viewer.height = entry.at("height");
    fixture.viewer.rgb = from_base64(entry.at("viewer"));
    fixture.reference = fixture.viewer;
    if (entry.contains("reference")) {
      fixture.reference.width = entry.at("reference").at("width");
      fixture.reference.height = entry.at("reference").at("height");
      fixture.reference.rgb = from_base64(entry.at("reference").at("rgb"));
    }
    fixtures.push_back(std::move(fixture));
  }
  return fixtures;
}

}  // namespace omniphi::testing
