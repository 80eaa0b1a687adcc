// The SentencePiece kind: ids of a small vocabulary worked out by hand, merging against the plain algorithm, decoding
// and streaming; and the goldens with Phi-3.5-vision's own file where it is.
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <random>

#include "base/error.h"
#include "base/utf8.h"
#include "testing/sentencepiece_file.h"
#include "text/stream_decoder.h"
#include "text/support.h"

namespace omniphi {
namespace {

using nlohmann::json;
using namespace text_test;
using testing::ascii_id;
using testing::byte_id;
using testing::kSpaceMarkId;
using Ids = std::vector<int32_t>;

std::string streamed(const Tokenizer& tokenizer, const Ids& ids, const StreamDecoderOptions& options) {
  StreamDecoder decoder(tokenizer, options);
  std::string text;
  for (const int32_t id : ids) {
    const std::string piece = decoder.push(id);
    EXPECT_EQ(find_invalid_utf8(piece), std::string::npos);
    text += piece;
  }
  return text + decoder.flush();
}

// decode() of the ids, and that streaming gives the same.
std::string decoded(const Tokenizer& tokenizer, const Ids& ids, bool skip_special) {
  const std::string text = tokenizer.decode(ids, {.skip_special = skip_special});
  EXPECT_EQ(streamed(tokenizer, ids, {.show_special = !skip_special}), text);
  return text;
}

TEST(SentencePiece, IdsByHand) {
  const std::pair<const char*, Ids> cases[] = {
      {"", {}},
      {"hello", {264}},               // one merge after the other, at last with the prefix
      {" hello", {259, 263}},         // two marks merge first, then nothing is left for the prefix
      {"\u2581hello", {259, 263}},    // U+2581 typed is a space
      {"hello hello", {264, 264}},    // a space inside merges like the prefix
      {" ", {259}},                   // prefix and space
      {"   ", {269}},                 // four marks
      {"    ", {269, kSpaceMarkId}},  // leftmost first
      {"ab", {kSpaceMarkId, 266}},    // (a b) ranks before (mark a)
      {"abc", {kSpaceMarkId, 268}},   // (b c) ranks before (a b), and (a bc) before (mark a)
      {"aaa", {265, 271}},            // (mark a) ranks before (a a)
      {"<aaa", {270, 271, ascii_id('a')}},
      {"\n", {kSpaceMarkId, byte_id('\n')}},
      {"a\n\ta", {265, byte_id('\n'), byte_id('\t'), ascii_id('a')}},
      {"\u00E9\u4E2D\U0001F680", {kSpaceMarkId, 367, 368, 369}},  // characters of two, three and four bytes
      {"\u00E8", {kSpaceMarkId, byte_id(0xC3), byte_id(0xA8)}},   // characters that are no token: their bytes
      {"\u4E2E", {kSpaceMarkId, byte_id(0xE4), byte_id(0xB8), byte_id(0xAE)}},
      {"\U0001F600", {kSpaceMarkId, byte_id(0xF0), byte_id(0x9F), byte_id(0x98), byte_id(0x80)}},
      {"e\u0301", {kSpaceMarkId, ascii_id('e'), byte_id(0xCC), byte_id(0x81)}},  // nothing is normalised
      {"\u00A0", {kSpaceMarkId, byte_id(0xC2), byte_id(0xA0)}},                  // only U+0020 is a space
      {"<0x41>", {270, ascii_id('0'), ascii_id('x'), ascii_id('4'), ascii_id('1'), ascii_id('>')}},
  };
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(encode(small_tokenizer(), text), ids) << text;
    EXPECT_EQ(encode_special(small_tokenizer(), text), ids) << text;
    EXPECT_EQ(encode_specials_as_text(small_tokenizer(), text), ids) << text;
  }
  EXPECT_EQ(encode(small_tokenizer(), std::string("\0", 1)), (Ids{kSpaceMarkId, byte_id(0)}));
}

TEST(SentencePiece, AddedTokensByHand) {
  const int32_t newline = byte_id('\n');
  const std::pair<const char*, Ids> cases[] = {
      {"<|user|>\nhello<|end|>\n<|assistant|>\n",
       {372, kSpaceMarkId, newline, 263, 373, kSpaceMarkId, newline, 371}},  // only <|assistant|> strips
      {"<|user|>hello", {372, 264}},                                         // every piece has its own prefix
      {"<|user|> hello", {372, 259, 263}},
      {" <|user|> ", {259, 372, 259}},  // nothing strips on the left
      {"<|assistant|> \n\t\u3000\u2028\u00A0hello", {371, 264}},
      {"<|assistant|>\u2581hello", {371, 259, 263}},  // U+2581 is no white space
      {"<|image|>\n\n", {375}},
      {"<|User|>",
       {270, ascii_id('|'), ascii_id('U'), ascii_id('s'), ascii_id('e'), ascii_id('r'), ascii_id('|'), ascii_id('>')}},
      {"<s><unk></s>  a", {1, 0, 2, 265}},
  };
  for (const auto& [text, ids] : cases) EXPECT_EQ(encode_special(small_tokenizer(), text), ids) << text;
}

TEST(SentencePiece, SpecialsAsTextAndDefused) {
  const std::string text = "<s>hello</s>  a";
  const Ids shared = {270, ascii_id('s'), ascii_id('>'), 263};
  Ids as_text = shared, defused = shared;
  as_text.insert(as_text.end(), {2, 265});  // "</s>" isn't special, and strips
  defused.insert(defused.end(), {ascii_id('<'), ascii_id('/'), ascii_id('s'), ascii_id('>'), 259, ascii_id('a')});
  EXPECT_EQ(encode_special(small_tokenizer(), text), (Ids{1, 264, 2, 265}));
  EXPECT_EQ(encode_specials_as_text(small_tokenizer(), text), as_text);
  EXPECT_EQ(encode(small_tokenizer(), text), defused);
  // The characters of a special token that is passed over don't begin another token.
  json file = testing::small_sentencepiece_file();
  file["added_tokens"][2]["content"] = "user|></s>";
  file["added_tokens"][2]["id"] = 410;
  const Tokenizer overlapping = Tokenizer::from_json(file.dump(), "overlapping");
  EXPECT_EQ(encode_specials_as_text(overlapping, "<|user|></s>"), encode(overlapping, "<|user|></s>"));
  EXPECT_EQ(encode_specials_as_text(overlapping, "user|></s>"), (Ids{410}));
  // Byte-level: nothing is recognised, as in its goldens.
  EXPECT_EQ(encode_specials_as_text(tiny_tokenizer(), "<|tool_call|>"), encode(tiny_tokenizer(), "<|tool_call|>"));
}

TEST(SentencePiece, KnowsItself) {
  const Tokenizer& tokenizer = small_tokenizer();
  EXPECT_EQ(tokenizer.kind(), TokenizerKind::kSentencePiece);
  EXPECT_EQ(tokenizer.bos_id(), 1);
  EXPECT_EQ(tokenizer.vocab_size(), 376);
  EXPECT_EQ(tokenizer.token_bytes(264), " hello");
  EXPECT_EQ(tokenizer.token_bytes(byte_id('\n')), "\n");
  EXPECT_EQ(tokenizer.token_bytes(byte_id(0)), std::string(1, '\0'));
  EXPECT_EQ(tokenizer.token_bytes(380), "");
  EXPECT_TRUE(tokenizer.is_byte_token(byte_id(0xFF)));
  EXPECT_FALSE(tokenizer.is_byte_token(ascii_id('A')));
  for (const int32_t id : {-1, 376, 1 << 30}) EXPECT_FALSE(tokenizer.is_byte_token(id));
  EXPECT_EQ(tiny_tokenizer().kind(), TokenizerKind::kByteLevel);
  EXPECT_EQ(tiny_tokenizer().bos_id(), std::nullopt);
  EXPECT_FALSE(tiny_tokenizer().is_byte_token(64));
}

TEST(SentencePiece, DecodingByHand) {
  const int32_t f0 = byte_id(0xF0), x9f = byte_id(0x9F), x98 = byte_id(0x98), x80 = byte_id(0x80), nl = byte_id('\n');
  const std::pair<Ids, const char*> cases[] = {
      {{}, ""},
      {{264}, "hello"},        // one leading space goes
      {{259, 263}, " hello"},  // only one
      {{264, 264}, "hello hello"},
      {{kSpaceMarkId}, ""},
      {{byte_id(' '), 263}, "hello"},  // also one that is a byte
      {{1, 264}, "<s> hello"},
      {{f0, x9f, x98, x80}, "\U0001F600"},
      {{f0, x9f, 263}, "\uFFFD\uFFFDhello"},
      {{263, f0, x9f}, "hello\uFFFD\uFFFD"},
      {{nl, x80, nl, 263}, "\uFFFD\uFFFD\uFFFDhello"},  // EVERY byte of the run
      {{nl, f0, x9f, x98, x80, nl}, "\n\U0001F600\n"},
      {{f0, x9f, 380, x98, x80}, "\U0001F600"},  // an id without a token ends no run
      {{f0, x9f, 9999, x98, x80}, "\U0001F600"},
      {{380, 264}, "hello"},
      {{x80, 263, nl}, "\uFFFDhello\n"},                            // a new run is judged on its own
      {{byte_id(0xED), byte_id(0xA0), x80}, "\uFFFD\uFFFD\uFFFD"},  // a surrogate
  };
  for (const auto& [ids, text] : cases) EXPECT_EQ(decoded(small_tokenizer(), ids, false), text) << json(ids).dump();
  EXPECT_EQ(decoded(small_tokenizer(), {1, 264, 373, 2}, true), "hello</s>");
  EXPECT_EQ(decoded(small_tokenizer(), {f0, x9f, 373, x98, x80}, true), "\U0001F600");  // left out, so no end of a run
  EXPECT_EQ(decoded(small_tokenizer(), {f0, x9f, 373, x98, x80}, false), "\uFFFD\uFFFD<|end|>\uFFFD\uFFFD");
  EXPECT_THROW(small_tokenizer().decode(Ids{264, -1}), Error);
  EXPECT_THROW(small_tokenizer().decode(Ids{1 << 30}), Error);
}

TEST(SentencePiece, StreamingGivesWhatIsCertain) {
  StreamDecoder decoder(small_tokenizer());
  EXPECT_EQ(decoder.push(264), "hello");
  EXPECT_EQ(decoder.push(265), " a");
  EXPECT_EQ(decoder.push(byte_id(0xF0)), "");
  EXPECT_EQ(decoder.push(byte_id(0x9F)), "");
  EXPECT_EQ(decoder.push(byte_id(0x98)), "");
  EXPECT_EQ(decoder.push(byte_id(0x80)), "");  // a byte behind it might still break the run
  EXPECT_EQ(decoder.push(265), "\U0001F600 a");
  EXPECT_EQ(decoder.push(byte_id('\n')), "");
  EXPECT_EQ(decoder.push(byte_id(0x80)), "\uFFFD\uFFFD");  // it is broken now
  EXPECT_EQ(decoder.push(byte_id('\n')), "\uFFFD");
  EXPECT_EQ(decoder.push(265), " a");
  EXPECT_EQ(decoder.push(byte_id('\n')), "");
  EXPECT_EQ(decoder.flush(), "\n");
  EXPECT_EQ(streamed(small_tokenizer(), {264, byte_id('\n'), byte_id('\n'), 265}, {.stop = {"\n\n"}}), "hello");
  EXPECT_EQ(streamed(small_tokenizer(), {264, 264}, {.stop = {" hello"}}), "hello");  // the dropped space stops nothing
}

TEST(SentencePiece, StreamingEqualsDecodingOfAllIds) {
  std::mt19937 random(5);
  for (int round = 0; round < 4000; ++round) {
    Ids ids;
    for (size_t n = random() % 20; n > 0; --n) {
      const int kind = static_cast<int>(random() % 8);
      if (kind < 5) {  // pieces of characters, mostly in order
        const std::string text = random_text(random, 2);
        for (const char c : text) ids.push_back(byte_id(static_cast<uint8_t>(c)));
        if (kind == 0 && !ids.empty()) ids.pop_back();
      } else {
        ids.push_back(static_cast<int32_t>(random() % 410));
      }
    }
    decoded(small_tokenizer(), ids, false);
    decoded(small_tokenizer(), ids, true);
  }
}

TEST(SentencePiece, MergesLikeThePlainAlgorithm) {
  std::map<Ids, std::pair<size_t, int32_t>> merges;  // of two ids: rank and result
  const json file = testing::small_sentencepiece_file();
  for (size_t rank = 0; rank < file["model"]["merges"].size(); ++rank) {
    const std::string merge = file["model"]["merges"][rank];
    const size_t space = merge.find(' ');
    const std::string left = merge.substr(0, space), right = merge.substr(space + 1);
    const json& vocab = file["model"]["vocab"];
    merges[{vocab[left], vocab[right]}] = {rank, vocab[left + right]};
  }
  std::mt19937 random(6);
  for (int round = 0; round < 3000; ++round) {
    const std::string alphabet = round % 2 == 0 ? "abc <" : "hello a";
    std::string text;
    Ids ids = {kSpaceMarkId};
    for (size_t n = 1 + random() % (round % 10 == 0 ? 300 : 20); n > 0; --n) {
      text += alphabet[random() % alphabet.size()];
      ids.push_back(text.back() == ' ' ? kSpaceMarkId : ascii_id(text.back()));
    }
    while (true) {
      size_t best = 0, best_rank = merges.size();
      for (size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto it = merges.find({ids[i], ids[i + 1]});
        if (it == merges.end() || it->second.first >= best_rank) continue;
        best_rank = it->second.first;
        best = i;
      }
      if (best_rank == merges.size()) break;
      ids[best] = merges.at({ids[best], ids[best + 1]}).second;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    ASSERT_EQ(encode(small_tokenizer(), text), ids) << text;
  }
}

// Text comes back; only U+2581 would turn into a space.
TEST(SentencePiece, DecodingGivesTheTextBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random, 30);
    if (text.find("\u2581") != std::string::npos) continue;
    EXPECT_EQ(decoded(small_tokenizer(), encode(small_tokenizer(), text), false), text);
  }
}

// Ten times the text may take 40 times as long (caches), far from the 100 of a quadratic algorithm.
TEST(SentencePiece, AdversarialTextTakesLinearTime) {
  const auto seconds = [](const std::string& unit, size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += unit;
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      const std::clock_t start = std::clock();  // of this process: others may be busy
      const Ids ids = encode_special(small_tokenizer(), text);
      EXPECT_FALSE(small_tokenizer().decode(ids).empty());
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  for (const char* unit : {"a", " ", "\n", "abc", "hello ", "\u00E8", "\U0001F600", "<|end|> ", "<|", "<0x41>"}) {
    EXPECT_LT(seconds(unit, 200000), 40 * seconds(unit, 20000) + 0.02) << "unit " << json(unit).dump();
  }
}

TEST(SentencePieceGoldens, WholeVocabulary) {
  if (phi3v_tokenizer() == nullptr) GTEST_SKIP() << kNoPhi3vTokenizer;
  const Tokenizer& tokenizer = *phi3v_tokenizer();
  EXPECT_EQ(tokenizer.vocab_size(), 32045);
  EXPECT_EQ(tokenizer.bos_id(), 1);
  const json goldens = read_json("tests/parity/tokenizer/phi3v.json");
  ASSERT_GE(goldens["cases"].size(), 277u);
  size_t as_text = 0;
  for (const json& c : goldens["cases"]) {
    const std::string text = c["text"];
    const Ids ids = c["ids"];
    EXPECT_EQ(encode_special(tokenizer, text), ids) << c["text"];
    const Ids specials_as_text = c.contains("ids_specials_as_text") ? Ids(c["ids_specials_as_text"]) : ids;
    EXPECT_EQ(encode_specials_as_text(tokenizer, text), specials_as_text) << c["text"];
    if (text.find("</s>") == std::string::npos) {
      EXPECT_EQ(encode(tokenizer, text), specials_as_text) << c["text"];
    }
    as_text += c.contains("ids_specials_as_text");
    EXPECT_EQ(decoded(tokenizer, ids, false), c["decoded"].get<std::string>()) << c["text"];
    const json& skipped = c.contains("decoded_skip_special") ? c["decoded_skip_special"] : c["decoded"];
    EXPECT_EQ(decoded(tokenizer, ids, true), skipped.get<std::string>()) << c["text"];
  }
  EXPECT_GE(as_text, 28u);
  ASSERT_GE(goldens["decode"].size(), 42u);
  for (const json& c : goldens["decode"]) {
    EXPECT_EQ(decoded(tokenizer, c["ids"], false), c["decoded"].get<std::string>()) << c["ids"];
    EXPECT_EQ(decoded(tokenizer, c["ids"], true), c["decoded_skip_special"].get<std::string>()) << c["ids"];
  }
}

}  // namespace
}  // namespace omniphi
