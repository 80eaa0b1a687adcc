// Merging against a plain re-implementation: search all pairs, merge the best, repeat.
#include "text/bpe.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace omniphi {
namespace {

using Ids = std::vector<int32_t>;
using Pair = std::pair<int32_t, int32_t>;

struct Model {
  std::map<Pair, MergeTable::Merge> merges;
  std::vector<std::string> tokens;  // by id
};

// All bytes and `count` random merges; tokens over few letters, so that pieces merge deeply.
Model random_model(std::mt19937& random, int count) {
  Model model;
  for (int byte = 0; byte < 256; ++byte) model.tokens.push_back(std::string(1, static_cast<char>(byte)));
  std::vector<int32_t> useful = {'a', 'b', 'c', ' '};
  while (count-- > 0) {
    const int32_t left = useful[random() % useful.size()], right = useful[random() % useful.size()];
    const std::string joined = model.tokens[left] + model.tokens[right];
    const auto known = std::find(model.tokens.begin(), model.tokens.end(), joined);
    const int32_t id = static_cast<int32_t>(known - model.tokens.begin());
    if (known == model.tokens.end()) {
      model.tokens.push_back(joined);
      useful.push_back(id);
    }
    if (model.merges.count({left, right}) == 0) {
      model.merges[{left, right}] = {static_cast<uint32_t>(model.merges.size()), id};
    }
  }
  return model;
}

Bpe make_bpe(const Model& model, bool ignore_merges) {
  VocabTable vocab(model.tokens.size(), model.tokens.size());
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    EXPECT_TRUE(vocab.add(static_cast<int32_t>(id), model.tokens[id]));
  }
  MergeTable merges(model.merges.size());
  for (const auto& [pair, merge] : model.merges) merges.add(pair.first, pair.second, merge);
  return Bpe(std::move(vocab), std::move(merges), ignore_merges);
}

Ids plain_merge(const Model& model, const std::string& piece) {
  Ids ids;
  for (const char c : piece) ids.push_back(static_cast<uint8_t>(c));
  while (true) {
    uint32_t best_rank = MergeTable::kNoRank;
    size_t best = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto it = model.merges.find({ids[i], ids[i + 1]});
      if (it != model.merges.end() && it->second.rank < best_rank) {
        best_rank = it->second.rank;
        best = i;
      }
    }
    if (best_rank == MergeTable::kNoRank) return ids;
    ids[best] = model.merges.at({ids[best], ids[best + 1]}).id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Bpe, EqualsThePlainAlgorithm) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const Model model = random_model(random, 40 + round * 5);
    const Bpe bpe = make_bpe(model, false);
    for (const size_t length : {1, 2, 3, 5, 17, 63, 64, 65, 66, 130, 400}) {
      for (int repeat = 0; repeat < 8; ++repeat) {
        std::string piece;
        const size_t letters = 1 + random() % 4;
        for (size_t i = 0; i < length; ++i) piece += "abc "[random() % letters];
        Ids ids;
        bpe.encode(piece, &ids);
        ASSERT_EQ(ids, plain_merge(model, piece)) << piece;
      }
    }
  }
}

TEST(Bpe, ATokenThatMergingDoesNotReach) {
  // "abc" is a token, but "bc" merges first and nothing joins a with bc.
  Model model = random_model(*std::make_unique<std::mt19937>(1), 0);
  model.tokens.insert(model.tokens.end(), {"ab", "bc", "abc"});
  model.merges[{'b', 'c'}] = {0, 257};
  model.merges[{'a', 'b'}] = {1, 256};
  model.merges[{256, 'c'}] = {2, 258};
  for (int round = 0; round < 2; ++round) {  // the second time from memory
    Ids merged, ignored;
    make_bpe(model, false).encode("abc", &merged);
    make_bpe(model, true).encode("abc", &ignored);
    EXPECT_EQ(merged, (Ids{'a', 257}));
    EXPECT_EQ(ignored, (Ids{258}));
  }
}

TEST(VocabTable, RefusesWhatIsTaken) {
  VocabTable vocab(4, 3);
  EXPECT_TRUE(vocab.add(2, "x"));
  EXPECT_FALSE(vocab.add(2, "y"));
  EXPECT_FALSE(vocab.add(3, "x"));
  EXPECT_TRUE(vocab.add(0, "a longer token than eight bytes"));
  vocab.set_bytes(1, "hidden");
  EXPECT_EQ(vocab.find("x"), 2);
  EXPECT_EQ(vocab.find("a longer token than eight bytes"), 0);
  EXPECT_EQ(vocab.find("a longer token than eight byteS"), -1);
  EXPECT_EQ(vocab.find("hidden"), -1);
  EXPECT_EQ(vocab.bytes(1), "hidden");
  EXPECT_EQ(vocab.bytes(3), "");
}

}  // namespace
}  // namespace omniphi
