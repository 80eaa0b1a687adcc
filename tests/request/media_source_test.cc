#include "request/media_source.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "base/error.h"
#include "testing/temp_folder.h"

namespace omniphi {
namespace {

Error refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  return Error(ErrorKind::kInternal, "", "");
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nshould contain: " << part;
}

TEST(MediaSource, PathsResolveAgainstTheFolder) {
  const MediaSource source = media_from_url(MediaKind::kImage, "a/b.png", "/base", "where");
  EXPECT_EQ(source.path, "/base/a/b.png");
  EXPECT_EQ(media_from_url(MediaKind::kImage, "/abs.png", "/base", "where").path, "/abs.png");
  EXPECT_EQ(media_from_url(MediaKind::kImage, "file:///a%20b.png", "/base", "where").path, "/a b.png");
  EXPECT_EQ(media_from_url(MediaKind::kImage, "file://localhost/a.png", "/base", "where").path, "/a.png");
}

TEST(MediaSource, DataUrlsBringTheirBytes) {
  const MediaSource source = media_from_url(MediaKind::kAudio, "data:audio/wav;base64,Zm9v", {}, "messages[0]");
  EXPECT_TRUE(source.path.empty());
  EXPECT_EQ(source.bytes, "foo");
  EXPECT_EQ(source.name, "messages[0]");
  EXPECT_EQ(load_media(source), "foo");
}

TEST(MediaSource, InputAudioIsBase64OrAPath) {
  EXPECT_EQ(media_from_data(MediaKind::kAudio, "Zm9v", {}, "w").bytes, "foo");
  EXPECT_EQ(media_from_data(MediaKind::kAudio, "data:audio/wav;base64,Zm9v", {}, "w").bytes, "foo");
  EXPECT_EQ(media_from_data(MediaKind::kAudio, "sounds/a.wav", "/f", "w").path, "/f/sounds/a.wav");
  const Error error = refusal([] { media_from_data(MediaKind::kAudio, "Zg", {}, "messages[0].data"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.where(), "messages[0].data");
}

TEST(MediaSource, VideosAreRefusedByNameBeforeTheyAreRead) {
  for (const char* path : {"clip.mp4", "clip.MKV", "no/such/clip.mov", "/x/clip.avi", "clip.m4v"}) {
    for (const MediaKind kind : {MediaKind::kImage, MediaKind::kAudio}) {
      const Error error = refusal([&] { media_from_path(kind, path); });
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      expect_contains(error.where(), path);
      EXPECT_EQ(error.found(), "a video");
      expect_contains(error.remedy(), "no video");
    }
  }
  // Base64 that can't be decoded: the type alone decides.
  EXPECT_EQ(refusal([] { media_from_url(MediaKind::kImage, "data:video/mp4;base64,!!", {}, "w"); }).found(), "a video");
  EXPECT_EQ(refusal([] { media_from_url(MediaKind::kImage, "https://host/a.mp4?x=1", {}, "w"); }).found(), "a video");
}

TEST(MediaSource, DocumentsAreRefusedByName) {
  expect_contains(refusal([] { media_from_path(MediaKind::kImage, "report.PDF"); }).found(), "PDF");
  expect_contains(
      refusal([] { media_from_url(MediaKind::kImage, "data:application/pdf;base64,Zm9v", {}, "w"); }).found(),
      "application/pdf");
}

TEST(MediaSource, TheNetworkIsRefusedWithARemedy) {
  for (const char* url : {"http://a/b.png", "HTTPS://a/b.png", "ftp://a/b.png", "s3://bucket/key"}) {
    const Error error = refusal([&] { media_from_url(MediaKind::kImage, url, {}, "messages[1].url"); });
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where(), "messages[1].url");
    expect_contains(error.found(), url);
    expect_contains(error.remedy(), "download");
  }
  EXPECT_EQ(refusal([] { media_from_url(MediaKind::kImage, "file://host/a.png", {}, "w"); }).expected(),
            "file:///ABSOLUTE/PATH");
}

TEST(MediaSource, WrongTypesAndBrokenDataAreRefused) {
  EXPECT_EQ(refusal([] { media_from_url(MediaKind::kImage, "data:audio/wav;base64,Zm9v", {}, "w"); }).expected(),
            "image/...");
  expect_contains(refusal([] { media_from_url(MediaKind::kImage, "data:image/png;base64,Zg", {}, "w"); }).found(),
                  "can't be decoded");
  EXPECT_EQ(refusal([] { media_from_url(MediaKind::kImage, "data:image/png;base64,", {}, "w"); }).found(), "no data");
  refusal([] { media_from_url(MediaKind::kImage, "", {}, "w"); });
  refusal([] { media_from_url(MediaKind::kImage, std::string_view("a\0b", 3), {}, "w"); });
}

TEST(MediaSource, MissingFilesAndFoldersAreFoundBeforeAnythingIsLoaded) {
  const testing::TempFolder folder;
  const auto check = [](const std::filesystem::path& path) { check_media(media_from_path(MediaKind::kImage, path)); };
  EXPECT_EQ(refusal([&] { check(folder.path() / "absent.png"); }).found(), "no such file");
  EXPECT_EQ(refusal([&] { check(folder.path()); }).found(), "a folder");
  std::ofstream(folder.path() / "there.png") << "bytes";
  EXPECT_NO_THROW(check(folder.path() / "there.png"));
  EXPECT_EQ(load_media(media_from_path(MediaKind::kImage, folder.path() / "there.png")), "bytes");
}

}  // namespace
}  // namespace omniphi
