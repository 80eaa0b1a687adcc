// The installed C++ interface.
#include "omniphi/omniphi.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/golden.h"

namespace omniphi {
namespace {

using testing::Golden;
using testing::golden_root;

Model& model() {
  static Model loaded(golden_root() + "/checkpoint");
  return loaded;
}

Request question_about_image() {
  Request request;
  request.media = {Medium::image(golden_root() + "/media/tiny100x60.png")};
  request.text = "What is shown in this image?";
  return request;
}

TEST(Api, AnswersAsTheReferenceDoes) {
  const Golden golden = Golden::load("i_tiny");
  AnswerOptions options;
  options.max_tokens = 8;
  options.ignore_eos = true;
  std::string streamed;
  const Answer answer = model().ask(question_about_image(), options, [&](std::string_view text) {
    streamed += text;
    return true;
  });
  const auto ids = golden.json.at("generated_ids").get<std::vector<int32_t>>();
  EXPECT_EQ(answer.token_ids, std::vector<int32_t>(ids.begin(), ids.begin() + 8));
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(answer.logprobs[i], golden.json.at("generated_logprobs")[i].get<double>(), 1e-3);
  }
  EXPECT_EQ(streamed, answer.text);
  EXPECT_EQ(answer.finish, Finish::kLength);
  EXPECT_EQ(answer.usage.prompt_tokens, golden.json.at("num_prompt_tokens"));
  EXPECT_EQ(answer.usage.image_tokens, golden.json.at("num_img_tokens")[0]);
  EXPECT_EQ(answer.usage.audio_tokens, 0);
  EXPECT_EQ(answer.usage.completion_tokens, 8);
}

TEST(Api, ScoresAsTheReferenceDoes) {
  const Golden golden = Golden::load("i_tiny");
  const Score score = model().score(question_about_image());
  const auto& logprobs = golden.tensor("logprobs").values;
  ASSERT_EQ(score.logprobs.size(), logprobs.size() + 1);
  EXPECT_TRUE(std::isnan(score.logprobs[0]));
  for (size_t i = 0; i < logprobs.size(); ++i) EXPECT_NEAR(score.logprobs[i + 1], logprobs[i], 1e-3);
}

TEST(Api, BytesAndMessagesAreTheSameRequest) {
  AnswerOptions options;
  options.max_tokens = 4;
  options.ignore_eos = true;
  const Answer by_path = model().ask(question_about_image(), options);
  Request by_bytes = question_about_image();
  by_bytes.media[0] =
      Medium{Medium::Kind::kImage, "", testing::read_test_file(golden_root() + "/media/tiny100x60.png")};
  EXPECT_EQ(model().ask(by_bytes, options).logprobs, by_path.logprobs);
  Request messages;
  messages.messages_folder = golden_root() + "/media";
  messages.messages_json = R"([{"role": "user", "name": "Ann", "content": [
      {"type": "image_url", "image_url": {"url": "tiny100x60.png"}},
      {"type": "text", "text": "What is shown in this image?"}]}])";
  const Answer answer = model().ask(messages, options);
  EXPECT_EQ(answer.logprobs, by_path.logprobs);
  EXPECT_EQ(answer.warnings.size(), 1u);
}

TEST(Api, ACallbackStopsTheAnswer) {
  Request request;
  request.text = "Hi";
  AnswerOptions options;
  options.max_tokens = 64;
  options.ignore_eos = true;
  const Answer answer = model().ask(request, options, [](std::string_view) { return false; });
  EXPECT_EQ(answer.finish, Finish::kCancelled);
  EXPECT_LT(answer.token_ids.size(), 64u);
  // The model answers the next request as if nothing had happened.
  EXPECT_EQ(model().ask(request, options).token_ids.size(), 64u);
}

TEST(Api, ErrorsSayWhatIsWrong) {
  try {
    Model absent("/no/such/model");
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  }
  Request request;
  request.media = {Medium::audio("clip.mp4")};
  try {
    model().ask(request);
    FAIL() << "answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.found(), "a video");
  }
  Request both;
  both.text = "x";
  both.messages_json = "[]";
  EXPECT_THROW(model().ask(both), Error);
  AnswerOptions options;
  options.temperature = -1;
  Request hello;
  hello.text = "Hi";
  EXPECT_THROW(model().ask(hello, options), Error);
}

TEST(Api, TellsItsVersionAndTheModelsLimit) {
  EXPECT_EQ(model().context_length(), 20480);
  EXPECT_NE(std::string(version()).find('.'), std::string::npos);
}

}  // namespace
}  // namespace omniphi
