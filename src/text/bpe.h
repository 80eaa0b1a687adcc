// Byte-pair merging by rank: the tables, the algorithm on symbols, and the encoder over the bytes of a piece.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace omniphi {

// The tokens of a vocabulary by id and by bytes.
class VocabTable {
 public:
  // `size`: one more than the largest id; `count`: how many tokens will be added.
  VocabTable(size_t size, size_t count);

  // False when the id is taken, or when the bytes are already there.
  bool add(int32_t id, std::string_view bytes);

  // Gives an id bytes that find() doesn't know: an added token, which only the matcher of added tokens finds.
  void set_bytes(int32_t id, std::string_view bytes);

  // The id of a token, or -1.
  int32_t find(std::string_view bytes) const;

  // Empty when no token has this id. 0 <= id < size().
  std::string_view bytes(int32_t id) const { return {arena_.data() + spans_[id].begin, spans_[id].length}; }

  size_t size() const { return spans_.size(); }

 private:
  struct Span {
    uint32_t begin = 0;
    uint32_t length = 0;
  };
  struct Slot {
    uint32_t hash = 0;
    int32_t id = -1;
  };
  std::string arena_;
  std::vector<Span> spans_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

// Which pairs of tokens merge, in which order, into what.
class MergeTable {
 public:
  static constexpr uint32_t kNoRank = UINT32_MAX;
  struct Merge {
    uint32_t rank = kNoRank;  // position in the list of merges
    int32_t id = -1;          // of the merged token
  };

  explicit MergeTable(size_t count);

  // When a pair comes twice the later one counts, as in the reference's library.
  void add(int32_t left, int32_t right, Merge merge);

  // rank kNoRank when the pair doesn't merge.
  Merge find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    int32_t left = -1;
    int32_t right = -1;
    Merge merge;
  };
  size_t slot_of(int32_t left, int32_t right) const;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

// A symbol of a text that is being merged.
struct BpeSymbol {
  int32_t id = -1;
  uint32_t previous = 0, next = 0;  // set by merge_symbols()
  MergeTable::Merge pair;           // what this symbol and the next one merge to; no rank at the last
};

// Merges by rank until nothing merges, and appends the ids that are left. The pair of lowest rank merges first, of
// equal ones the leftmost. `symbols` come with id and pair and are used up; fewer than 2^32. Time O(n log n).
void merge_symbols(const MergeTable& merges, std::vector<BpeSymbol>* symbols, std::vector<int32_t>* ids);

// Encodes pieces. Immutable but for a memory of which tokens their own bytes merge to, which threads may share.
class Bpe {
 public:
  // `vocab` holds every single byte as a token, and the sides of all merges. `ignore_merges`: a piece that is a token
  // is that token, even where merging would not arrive at it.
  Bpe(VocabTable vocab, MergeTable merges, bool ignore_merges);

  // Appends the ids of one piece (not empty, shorter than 2^32 bytes). The pair of lowest rank merges first, of equal
  // ones the leftmost. Time O(n log n).
  void encode(std::string_view piece, std::vector<int32_t>* ids) const;

  const VocabTable& vocab() const { return vocab_; }

 private:
  bool merges_to_itself(int32_t id) const;
  void merge(std::string_view piece, std::vector<int32_t>* ids) const;
  void merge_short(std::string_view piece, std::vector<int32_t>* ids) const;
  void merge_long(std::string_view piece, std::vector<int32_t>* ids) const;

  VocabTable vocab_;
  MergeTable merges_;
  bool ignore_merges_;
  std::array<int32_t, 256> byte_ids_;
  std::vector<MergeTable::Merge> byte_pairs_;  // [256 * left byte + right byte]
  // By id: 0 not looked at, 1 yes, 2 no. Any thread may find the same answer and store it.
  std::unique_ptr<std::atomic<uint8_t>[]> merges_to_itself_;
};

}  // namespace omniphi
