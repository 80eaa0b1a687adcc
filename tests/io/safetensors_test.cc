#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "base/file.h"
#include "io/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace omniphi {
namespace {

using testing::TempFolder;

// A file with this header text and `data` bytes behind it.
std::string file_of(const std::string& header, size_t data) {
  std::string bytes(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, 'x');
}

SafetensorsHeader parse(const std::string& bytes) {
  return parse_safetensors_header(std::as_bytes(std::span(bytes)), bytes.size(), "file", ErrorKind::kCheckpoint);
}

// "where: found" of the refusal.
std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    return error.where() + ": " + error.found();
  }
  return "accepted";
}

std::string refusal(const std::string& header, size_t data) { return refusal(file_of(header, data)); }

TEST(SafetensorsHeader, IsRead) {
  const SafetensorsHeader header = parse(file_of(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[6,14]},)"
      R"("a":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]},"e":{"dtype":"I8","shape":[0],"data_offsets":[6,6]},)"
      R"("s":{"dtype":"F64","shape":[],"data_offsets":[14,22]}})",
      22));
  ASSERT_EQ(header.tensors.size(), 4u);
  EXPECT_EQ(header.tensors[0].name, "a");  // in the order of the bytes
  EXPECT_EQ(header.tensors[0].shape, Shape({3, 1}));
  EXPECT_EQ(header.tensors[1].name, "e");
  EXPECT_EQ(header.tensors[2].dtype, DType::kF32);
  EXPECT_EQ(header.tensors[3].shape.rank(), 0);
  EXPECT_EQ(header.tensors[2].end - header.tensors[2].begin, 8u);
  EXPECT_EQ(header.metadata.at("format"), "pt");
}

TEST(SafetensorsHeader, RefusesLengths) {
  EXPECT_EQ(refusal(std::string()), "file: 0 bytes");
  EXPECT_EQ(refusal(std::string("\x02\0\0\0", 4)), "file: 4 bytes");
  EXPECT_EQ(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
            "file: a header of 18446744073709551615 bytes");
  EXPECT_EQ(refusal(std::string("\x03\0\0\0\0\0\0\0{}", 10)), "file: a header of 3 bytes in a file of 10");
  EXPECT_EQ(refusal(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)), "file: a header of 100000001 bytes");
  EXPECT_EQ(refusal("", 0), "file: a header that doesn't begin with {");
}

TEST(SafetensorsHeader, RefusesOtherForms) {
  EXPECT_EQ(refusal("[]", 0), "file: a header that doesn't begin with {");
  EXPECT_EQ(refusal(" {}", 0), "file: a header that doesn't begin with {");
  EXPECT_EQ(refusal(R"({"a":3})", 0), "file: \"a\": 3");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "file: \"a\": no data_offsets");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4),
            "file: \"a\": the key \"x\"");
  EXPECT_EQ(refusal(R"({"__metadata__":{"n":1}})", 0), "file: __metadata__.\"n\": 1");
  EXPECT_EQ(refusal(R"({"__metadata__":[]})", 0), "file: __metadata__: []");
  const std::string entry = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_EQ(refusal("{" + entry + "," + entry + "}", 4), "file: the key \"a\" occurs twice in one object");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[[[1]]],"data_offsets":[0,4]}})", 4),
            "file: more than 4 nested objects or lists");
}

TEST(SafetensorsHeader, RefusesTypesAndShapes) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1),
            "file: \"a\".dtype: \"F8_E4M3\"");
  EXPECT_EQ(refusal(R"({"a":{"dtype":3,"shape":[1],"data_offsets":[0,4]}})", 4), "file: \"a\".dtype: 3");
  for (const char* shape : {"[-1]", "[1.0]", "[\"1\"]", "3", "[18446744073709551615]", "[4294967296,4294967296]",
                            "[0,4611686018427387904,4611686018427387904]", "[2305843009213693952]",
                            "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"}) {
    const std::string header = std::string(R"({"a":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,4]}})";
    EXPECT_EQ(refusal(header, 4), std::string("file: \"a\".shape: ") + shape);
  }
}

TEST(SafetensorsHeader, RefusesOffsets) {
  const auto with_offsets = [](const std::string& offsets) {
    return refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + offsets + "}}", 8);
  };
  EXPECT_EQ(with_offsets("[0,8]"), "accepted");
  for (const char* offsets :
       {"[0,4]", "[8,0]", "[0]", "[0,8,9]", "[-8,0]", "[0.0,8.0]", "{}", "[0,18446744073709551615]"}) {
    EXPECT_EQ(with_offsets(offsets), std::string("file: \"a\".data_offsets: ") + offsets);
  }
  EXPECT_EQ(with_offsets("[4,12]"), "file: \"a\".data_offsets: it begins at byte 4, after a hole");
  const std::string a = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],)";
  EXPECT_EQ(refusal(a + R"("data_offsets":[2,6]}})", 6), "file: \"b\".data_offsets: it begins at byte 2, an overlap");
  EXPECT_EQ(refusal(a + R"("data_offsets":[5,9]}})", 9), "file: \"b\".data_offsets: it begins at byte 5, after a hole");
  EXPECT_EQ(refusal(a + R"("data_offsets":[4,8]}})", 9), "file: the tensors take 8 bytes, the file holds 9");
  EXPECT_EQ(refusal(a + R"("data_offsets":[4,8]}})", 7), "file: the tensors take 8 bytes, the file holds 7");
}

TEST(SafetensorsFile, GoesThroughAFile) {
  const TempFolder folder;
  const std::vector<float> a = {1.5f, -2.0f, 3.0f};
  const std::vector<uint16_t> b = {0x3f80, 0x4000};
  write_safetensors(folder / "x.safetensors",
                    {{"a", {a.data(), DType::kF32, {3, 1}}}, {"b", {b.data(), DType::kBF16, {2}}}}, {{"k", "v"}});
  SafetensorsFile opened = SafetensorsFile::open(folder / "x.safetensors");
  const View before = opened.tensor("a");
  const SafetensorsFile file = std::move(opened);  // maps move, views stay
  EXPECT_EQ(file.tensor("a").data, before.data);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(before.data) % 8, 0u);
  EXPECT_EQ(to_f32(file.tensor("a")), a);
  EXPECT_EQ(to_f32(file.tensor("b")), (std::vector<float>{1.0f, 2.0f}));
  EXPECT_EQ(file.metadata().at("k"), "v");
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_THROW(file.tensor("c"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "x.safetensors.partial"));
}

TEST(SafetensorsFile, NamesWhatItCannotOpen) {
  const TempFolder folder;
  for (const char* name : {"absent", "."}) {
    try {
      SafetensorsFile::open(folder / name);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), (folder / name).string());
    }
  }
}

TEST(SafetensorsWriter, WritesInPiecesFromThreads) {
  const TempFolder folder;
  {
    SafetensorsWriter writer(folder / "x.safetensors", {{"a", DType::kU8, {1000}}, {"b", DType::kU8, {1000}}});
    std::thread other([&writer] {
      const std::vector<std::byte> ones(500, std::byte{1});
      writer.write(1, 500, ones);
      writer.write(1, 0, ones);
    });
    const std::vector<std::byte> twos(10, std::byte{2});
    writer.write(0, 990, twos);
    EXPECT_THROW(writer.write(0, 991, twos), Error);
    other.join();
    EXPECT_FALSE(std::filesystem::exists(folder / "x.safetensors"));
    writer.finish();
  }
  const SafetensorsFile file = SafetensorsFile::open(folder / "x.safetensors");
  const auto* a = static_cast<const uint8_t*>(file.tensor("a").data);
  const auto* b = static_cast<const uint8_t*>(file.tensor("b").data);
  EXPECT_EQ(a[0], 0);  // a hole reads as zero
  EXPECT_EQ(a[990], 2);
  EXPECT_EQ(b[0] + b[999], 2);
}

TEST(SafetensorsWriter, LeavesNothingWhenGivenUp) {
  const TempFolder folder;
  { SafetensorsWriter writer(folder / "x.safetensors", {{"a", DType::kU8, {4}}}); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(SafetensorsWriter(folder / "no", {{"a", DType::kU8, {1}}, {"a", DType::kU8, {1}}}), Error);
}

}  // namespace
}  // namespace omniphi
