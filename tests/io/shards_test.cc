#include "io/shards.h"

#include <gtest/gtest.h>

#include "io/json.h"
#include "io/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::TempFolder;

// One byte a tensor.
void write_file_of(const TempFolder& folder, const std::string& file, const std::vector<std::string>& names) {
  static const uint8_t kByte = 7;
  std::vector<NamedView> tensors;
  for (const std::string& name : names) tensors.push_back({name, {&kByte, DType::kU8, {1}}});
  write_safetensors(folder / file, tensors);
}

void write_index(const TempFolder& folder, const json& weight_map) {
  folder.write("model.safetensors.index.json", json{{"weight_map", weight_map}}.dump());
}

std::vector<Reason> reasons_of(const TempFolder& folder) {
  try {
    Shards::open(folder.path());
  } catch (const RefusedError& error) {
    return error.reasons();
  }
  return {};
}

TEST(Shards, OneFile) {
  const TempFolder folder;
  write_file_of(folder, "model.safetensors", {"b", "a"});
  const Shards shards = Shards::open(folder.path());
  EXPECT_EQ(shards.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(shards.find("a").entry->name, "a");
  EXPECT_EQ(shards.find("c").entry, nullptr);
}

TEST(Shards, SeveralFiles) {
  const TempFolder folder;
  write_file_of(folder, "model-1.safetensors", {"a", "c"});
  write_file_of(folder, "model-2.safetensors", {"b"});
  write_index(folder, {{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}, {"c", "model-1.safetensors"}});
  const Shards shards = Shards::open(folder.path());
  ASSERT_EQ(shards.files().size(), 2u);
  EXPECT_EQ(shards.names().size(), 3u);
  EXPECT_EQ(shards.find("b").file, &shards.files()[1]);
}

TEST(Shards, FollowsSymlinksAsTheCacheMakesThem) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "blobs");
  std::filesystem::create_directories(folder / "snapshots/x");
  write_file_of(folder, "blobs/abc", {"a"});
  std::filesystem::create_symlink("../../blobs/abc", folder / "snapshots/x/model.safetensors");
  EXPECT_EQ(Shards::open(folder / "snapshots/x").names().size(), 1u);
}

TEST(Shards, RefusesNoWeights) {
  const TempFolder folder;
  EXPECT_EQ(reasons_of(folder).at(0).found, "no weights");
  folder.write("phi4.gguf", "x");
  EXPECT_EQ(reasons_of(folder).at(0).found, "weights only as phi4.gguf");
  std::filesystem::remove(folder / "phi4.gguf");
  folder.write("pytorch_model.bin", "x");
  EXPECT_EQ(reasons_of(folder).at(0).found, "weights only as pytorch_model.bin");
}

TEST(Shards, RefusesBothForms) {
  const TempFolder folder;
  write_file_of(folder, "model.safetensors", {"a"});
  write_index(folder, {{"a", "model-1.safetensors"}});
  EXPECT_EQ(reasons_of(folder).at(0).found, "both model.safetensors and model.safetensors.index.json");
}

TEST(Shards, RefusesNamesThatLeadOut) {
  for (const char* name : {"../model.safetensors", "/etc/x.safetensors", "a\\b.safetensors", "sub/x.safetensors",
                           ".hidden.safetensors", "model.bin", "", ".safetensors"}) {
    const TempFolder folder;
    write_index(folder, {{"a", name}});
    const std::vector<Reason> reasons = reasons_of(folder);
    ASSERT_EQ(reasons.size(), 1u) << name;
    EXPECT_EQ(reasons[0].where, "model.safetensors.index.json: weight_map.\"a\"");
    EXPECT_EQ(reasons[0].found, show_text(name));
  }
}

TEST(Shards, NamesEveryMissingShard) {
  const TempFolder folder;
  write_index(folder, {{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}});
  const std::vector<Reason> reasons = reasons_of(folder);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].where, (folder / "model-1.safetensors").string());
  EXPECT_EQ(reasons[1].where, (folder / "model-2.safetensors").string());
}

TEST(Shards, HoldsTheIndexToTheFiles) {
  const TempFolder folder;
  write_file_of(folder, "model-1.safetensors", {"a", "extra"});
  write_file_of(folder, "model-2.safetensors", {"b", "moved"});
  write_index(folder, {{"a", "model-1.safetensors"},
                       {"absent", "model-1.safetensors"},
                       {"moved", "model-1.safetensors"},
                       {"b", "model-2.safetensors"}});
  std::string all;
  for (const Reason& reason : reasons_of(folder)) all += reason.where + ": " + reason.found + "\n";
  EXPECT_EQ(all,
            "model-1.safetensors: the tensor \"extra\" that the index doesn't list\n"
            "model-2.safetensors: the tensor \"moved\" that the index puts in model-1.safetensors\n"
            "model-1.safetensors: no tensor \"absent\"\n"
            "model-1.safetensors: no tensor \"moved\"\n");
}

TEST(Shards, RefusesABrokenIndex) {
  for (const char* text :
       {"", "[]", "{}", R"({"weight_map": []})", R"({"weight_map": {}})", R"({"weight_map": {"a": 3}})",
        R"({"weight_map": {"a": "x.safetensors", "a": "x.safetensors"}})"}) {
    const TempFolder folder;
    folder.write("model.safetensors.index.json", text);
    EXPECT_EQ(reasons_of(folder).size(), 1u) << text;
  }
}

TEST(Reasons, OneKeepsItsFieldsAndSeveralAreListed) {
  Reasons reasons;
  EXPECT_NO_THROW(reasons.throw_if_any(ErrorKind::kCheckpoint, "folder"));
  reasons.add("here", "this", "that", "Do it.");
  try {
    reasons.throw_if_any(ErrorKind::kCheckpoint, "folder");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "here: this; expected that. Do it.");
  }
  reasons.add("there", "more", "less");
  try {
    reasons.throw_if_any(ErrorKind::kCheckpoint, "folder");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "folder: 2 reasons to refuse it:\n  - here: this; expected that. Do it.\n  - there: more; expected less");
  }
}

}  // namespace
}  // namespace omniphi
