#include "text/stream_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/utf8.h"
#include "text/support.h"

namespace omniphi {
namespace {

using namespace text_test;
using Ids = std::vector<int32_t>;

struct Streamed {
  std::string text;
  std::optional<size_t> stop;
};

// Pushes all ids; every piece must be whole UTF-8.
Streamed stream(const Tokenizer& tokenizer, const Ids& ids, StreamDecoderOptions options = {}) {
  StreamDecoder decoder(tokenizer, std::move(options));
  Streamed out;
  for (const int32_t id : ids) {
    const std::string piece = decoder.push(id);
    EXPECT_EQ(find_invalid_utf8(piece), std::string::npos);
    out.text += piece;
  }
  out.text += decoder.flush();
  out.stop = decoder.stop_index();
  EXPECT_EQ(decoder.stopped(), out.stop.has_value());
  return out;
}

Ids random_ids(std::mt19937& random, size_t count) {
  Ids ids;
  for (size_t i = 0; i < count; ++i) {
    // Single bytes in every other place: broken and unfinished characters.
    ids.push_back(static_cast<int32_t>(random() % (i % 2 == 0 ? 256 : 1565)));
  }
  return ids;
}

TEST(StreamDecoder, EqualsDecodeOfAllIds) {
  std::mt19937 random(21);
  for (int i = 0; i < 3000; ++i) {
    const Ids ids = random_ids(random, random() % 24);
    EXPECT_EQ(stream(tiny_tokenizer(), ids).text, tiny_tokenizer().decode(ids, {.skip_special = true}));
    EXPECT_EQ(stream(tiny_tokenizer(), ids, {.show_special = true}).text, tiny_tokenizer().decode(ids));
  }
}

TEST(StreamDecoder, GivesTextAsSoonAsItIsCertain) {
  StreamDecoder decoder(tiny_tokenizer());
  const Ids euro = {158, 224, 105};  // E2 82 AC in o200k's order of bytes
  ASSERT_EQ(tiny_tokenizer().decode(euro), "\u20AC");
  EXPECT_EQ(decoder.push(64), "a");
  EXPECT_EQ(decoder.push(euro[0]), "");
  EXPECT_EQ(decoder.push(euro[1]), "");
  EXPECT_EQ(decoder.push(euro[2]), "\u20AC");
  EXPECT_EQ(decoder.push(euro[0]), "");
  EXPECT_EQ(decoder.push(64),
            "\uFFFD"
            "a");
  EXPECT_EQ(decoder.push(euro[0]), "");
  EXPECT_EQ(decoder.flush(), "\uFFFD");
}

TEST(StreamDecoder, HidesControlTokensButNotToolCalls) {
  const Ids ids = {1561, 64, 1562, 1556, 1535};
  EXPECT_EQ(stream(tiny_tokenizer(), ids).text, "<|tool_call|>a<|/tool_call|>");
  EXPECT_EQ(stream(tiny_tokenizer(), ids, {.show_special = true}).text,
            "<|tool_call|>a<|/tool_call|><|end|><|endoftext|>");
}

TEST(StreamDecoder, IdsWithoutATokenGiveNothing) {
  EXPECT_EQ(stream(tiny_tokenizer(), {64, 1540, 1599, -5, 65}).text, "ab");
}

TEST(StreamDecoder, StopStringsSpanTokens) {
  const Ids ids = encode(tiny_tokenizer(), "one STOP two");
  ASSERT_GT(ids.size(), 4u);
  const Streamed out = stream(tiny_tokenizer(), ids, {.stop = {"nothing", "STOP"}});
  EXPECT_EQ(out.text, "one ");
  EXPECT_EQ(out.stop, 1u);
}

TEST(StreamDecoder, WithheldTextComesWhenNoStopFollows) {
  StreamDecoder decoder(tiny_tokenizer(), {.stop = {"abc"}});
  EXPECT_EQ(decoder.push(64), "");
  EXPECT_EQ(decoder.push(65), "");
  EXPECT_EQ(decoder.push(64), "ab");
  EXPECT_EQ(decoder.push(65), "");
  EXPECT_EQ(decoder.flush(), "ab");
  EXPECT_FALSE(decoder.stopped());
}

TEST(StreamDecoder, TheFirstToEndThenTheLongest) {
  const auto run = [](const std::string& text, std::vector<std::string> stop) {
    return stream(tiny_tokenizer(), encode(tiny_tokenizer(), text), {.stop = std::move(stop)});
  };
  EXPECT_EQ(run("abcd", {"abcd", "bc"}).text, "a");
  EXPECT_EQ(run("abcd", {"abcd", "bc"}).stop, 1u);
  EXPECT_EQ(run("xabc", {"bc", "abc"}).text, "x");
  EXPECT_EQ(run("xabc", {"bc", "abc"}).stop, 1u);
  EXPECT_EQ(run("aaab", {"aab"}).text, "a");
  EXPECT_EQ(run("\u20AC\u20AC!", {"\u20AC!"}).text, "\u20AC");
  EXPECT_EQ(run("x\n\ny", {"\n\n"}).text, "x");
}

TEST(StreamDecoder, AStopStringMayHoldTheReplacementOfAnUnfinishedCharacter) {
  StreamDecoder decoder(tiny_tokenizer(), {.stop = {"\uFFFD"}});
  EXPECT_EQ(decoder.push(64), "a");
  EXPECT_EQ(decoder.push(158), "");
  EXPECT_EQ(decoder.flush(), "");
  EXPECT_EQ(decoder.stop_index(), 0u);
}

TEST(StreamDecoder, StopsLikeASearchInTheWholeText) {
  std::mt19937 random(8);
  for (int i = 0; i < 4000; ++i) {
    Ids ids;
    for (size_t n = random() % 30; n > 0; --n) ids.push_back(64 + static_cast<int32_t>(random() % 3));
    std::vector<std::string> stop;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      std::string text;
      for (size_t letters = 1 + random() % 4; letters > 0; --letters) text += "abc"[random() % 3];
      stop.push_back(text);
    }
    const std::string all = tiny_tokenizer().decode(ids);
    size_t end = std::string::npos, begin = all.size();
    for (const std::string& s : stop) {
      const size_t at = all.find(s);
      if (at == std::string::npos) continue;
      if (at + s.size() < end || (at + s.size() == end && at < begin)) {
        end = at + s.size();
        begin = at;
      }
    }
    const Streamed out = stream(tiny_tokenizer(), ids, {.stop = stop});
    ASSERT_EQ(out.text, all.substr(0, begin)) << all;
    ASSERT_EQ(out.stop.has_value(), end != std::string::npos);
    if (out.stop) {
      ASSERT_EQ(all.substr(begin, end - begin), stop[*out.stop]);
    }
  }
}

TEST(StreamDecoder, NothingComesBehindAStop) {
  StreamDecoder decoder(tiny_tokenizer(), {.stop = {"a"}});
  EXPECT_EQ(decoder.push(65), "b");
  EXPECT_EQ(decoder.push(64), "");
  EXPECT_EQ(decoder.push(65), "");
  EXPECT_EQ(decoder.flush(), "");
}

TEST(StreamDecoder, RefusesUselessStopStrings) {
  for (const std::string& stop : {std::string(), std::string("\xFF")}) {
    try {
      StreamDecoder decoder(tiny_tokenizer(), {.stop = {"ok", stop}});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_EQ(error.where(), "stop[1]");
    }
  }
}

}  // namespace
}  // namespace omniphi
