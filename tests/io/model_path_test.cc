#include "io/model_path.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/error.h"
#include "testing/temp_folder.h"

namespace omniphi {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

constexpr const char* kVariables[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"};

// Takes the variables that lead to the cache away, and brings them back.
class ModelPath : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) {
      const char* value = ::getenv(name);
      saved_.emplace_back(value == nullptr ? "" : value);
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (size_t i = 0; i < saved_.size(); ++i) {
      if (!saved_[i].empty()) ::setenv(kVariables[i], saved_[i].c_str(), 1);
    }
  }
  static void set(const char* name, const fs::path& value) { ::setenv(name, value.c_str(), 1); }

 private:
  std::vector<std::string> saved_;
};

std::string refusal(const std::string& model) {
  try {
    resolve_model(model);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    return error.what();
  }
  return "accepted";
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST_F(ModelPath, AFolderIsItself) {
  const TempFolder folder;
  EXPECT_EQ(resolve_model(folder.path().string()), folder.path());
}

TEST_F(ModelPath, FilesAreRefusedByName) {
  const TempFolder folder;
  for (const auto& [name, what] :
       {std::pair("m.gguf", "a GGUF file"), std::pair("m.bin", "a PyTorch checkpoint file"),
        std::pair("m.pt", "a PyTorch checkpoint file"), std::pair("m.safetensors", "a safetensors file on its own"),
        std::pair("m.txt", "a single file")}) {
    folder.write(name, "x");
    const std::string text = refusal((folder / name).string());
    expect_says(text, name);
    expect_says(text, what);
  }
}

TEST_F(ModelPath, TheCacheIsFoundInOrder) {
  EXPECT_EQ(hugging_face_cache(), "");
  set("HOME", "/h");
  EXPECT_EQ(hugging_face_cache(), "/h/.cache/huggingface/hub");
  set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(hugging_face_cache(), "/x/huggingface/hub");
  set("HF_HOME", "/f");
  EXPECT_EQ(hugging_face_cache(), "/f/hub");
  set("HF_HOME", "~/f");
  EXPECT_EQ(hugging_face_cache(), "/h/f/hub");
  set("HF_HUB_CACHE", "/c");
  EXPECT_EQ(hugging_face_cache(), "/c");
}

TEST_F(ModelPath, ARepositoryIsFoundInTheCache) {
  const TempFolder home;
  set("HF_HOME", home.path());
  const std::string repository = "hub/models--microsoft--Phi-4-multimodal-instruct/";
  home.write(repository + "refs/main", "0123abc\n");
  home.write(repository + "refs/refs/pr/70", "beef");
  home.write(repository + "snapshots/0123abc/config.json", "{}");
  home.write(repository + "snapshots/beef/config.json", "{}");
  const fs::path snapshots = home / (repository + "snapshots");
  EXPECT_EQ(resolve_model("microsoft/Phi-4-multimodal-instruct"), snapshots / "0123abc");
  EXPECT_EQ(resolve_model("microsoft/Phi-4-multimodal-instruct@refs/pr/70"), snapshots / "beef");
  EXPECT_EQ(resolve_model("microsoft/Phi-4-multimodal-instruct@beef"), snapshots / "beef");
  expect_says(refusal("microsoft/Phi-4-multimodal-instruct@other"), "snapshots/other");
}

TEST_F(ModelPath, WhatIsAbsentIsExplained) {
  const TempFolder home;
  expect_says(refusal("microsoft/Phi-4-multimodal-instruct"), "HF_HOME and HOME are not set");
  set("HF_HOME", home.path());
  const std::string text = refusal("microsoft/Phi-4-multimodal-instruct");
  expect_says(text, (home / "hub/models--microsoft--Phi-4-multimodal-instruct").string());
  expect_says(text, "hf download microsoft/Phi-4-multimodal-instruct");
  home.write("hub/models--a--b/refs/main", "../../../etc");
  expect_says(refusal("a/b"), "the name of a snapshot");
  home.write("hub/models--a--b/refs/main", "gone");
  expect_says(refusal("a/b"), "snapshots/gone");
}

TEST_F(ModelPath, OtherNamesAreNoRepositories) {
  const TempFolder home;
  set("HF_HOME", home.path());
  for (const char* model :
       {"", "missing", "/no/such/folder", "../a/b", "a/..", "a/b/c", "a/b@", "a/b@../x", "a/b@x/../y"}) {
    expect_says(refusal(model), "there is no such folder");
  }
}

}  // namespace
}  // namespace omniphi
