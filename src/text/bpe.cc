#include "text/bpe.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace omniphi {
namespace {

// Pieces up to this many bytes are merged by scanning for the best pair, which is quicker than a heap and bounded.
constexpr size_t kShortPiece = 64;
constexpr uint32_t kNoRank = MergeTable::kNoRank;

size_t slots_for(size_t count) { return std::bit_ceil(std::max<size_t>(count * 2, 16)); }

// Multiply and fold, eight bytes a step; the constants are odd numbers with well-spread bits.
uint64_t hash_bytes(std::string_view bytes) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  uint64_t h = bytes.size() * kMultiplier;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    h = (h ^ word) * kMultiplier;
    h ^= h >> 32;
  }
  uint64_t tail = 0;
  if (at < bytes.size()) std::memcpy(&tail, bytes.data() + at, bytes.size() - at);
  h = (h ^ tail) * kMultiplier;
  return h ^ (h >> 29);
}

}  // namespace

VocabTable::VocabTable(size_t size, size_t count) : spans_(size), slots_(slots_for(count)) {}

bool VocabTable::add(int32_t id, std::string_view bytes) {
  if (spans_[id].length != 0) return false;
  const uint32_t hash = static_cast<uint32_t>(hash_bytes(bytes));
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].id >= 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && this->bytes(slots_[at].id) == bytes) return false;
  }
  set_bytes(id, bytes);
  slots_[at] = {hash, id};
  return true;
}

void VocabTable::set_bytes(int32_t id, std::string_view bytes) {
  spans_[id] = {static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(bytes.size())};
  arena_.append(bytes);
}

int32_t VocabTable::find(std::string_view bytes) const {
  const uint32_t hash = static_cast<uint32_t>(hash_bytes(bytes));
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].id >= 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && this->bytes(slots_[at].id) == bytes) return slots_[at].id;
  }
  return -1;
}

MergeTable::MergeTable(size_t count) : slots_(slots_for(count)) {}

size_t MergeTable::slot_of(int32_t left, int32_t right) const {
  const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  const size_t mask = slots_.size() - 1;
  size_t at = (key * 0x9E3779B97F4A7C15u >> 32) & mask;
  while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & mask;
  return at;
}

void MergeTable::add(int32_t left, int32_t right, Merge merge) { slots_[slot_of(left, right)] = {left, right, merge}; }

MergeTable::Merge MergeTable::find(int32_t left, int32_t right) const { return slots_[slot_of(left, right)].merge; }

void merge_symbols(const MergeTable& merges, std::vector<BpeSymbol>* symbols_in, std::vector<int32_t>* ids) {
  // A list of symbols linked by position, and a heap of (rank, position) whose stale entries are skipped: an entry is
  // stale when the pair at its position has another rank by now.
  std::vector<BpeSymbol>& symbols = *symbols_in;
  const uint32_t count = static_cast<uint32_t>(symbols.size());
  std::vector<uint64_t> heap;
  const auto entry = [&](uint32_t at) { return static_cast<uint64_t>(symbols[at].pair.rank) << 32 | at; };
  for (uint32_t i = 0; i < count; ++i) {
    symbols[i].previous = i - 1;
    symbols[i].next = i + 1;
    if (symbols[i].pair.rank != kNoRank) heap.push_back(entry(i));
  }
  const std::greater<> first_is_least;
  std::make_heap(heap.begin(), heap.end(), first_is_least);
  const auto update = [&](uint32_t at) {
    BpeSymbol& symbol = symbols[at];
    symbol.pair = symbol.next < count ? merges.find(symbol.id, symbols[symbol.next].id) : MergeTable::Merge{};
    if (symbol.pair.rank == kNoRank) return;
    heap.push_back(entry(at));
    std::push_heap(heap.begin(), heap.end(), first_is_least);
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), first_is_least);
    const uint64_t top = heap.back();
    heap.pop_back();
    const uint32_t at = static_cast<uint32_t>(top);
    if (symbols[at].pair.rank != top >> 32) continue;
    BpeSymbol& symbol = symbols[at];
    BpeSymbol& eaten = symbols[symbol.next];
    symbol.id = symbol.pair.id;
    symbol.next = eaten.next;
    eaten.pair = {};  // its own entry becomes stale
    if (symbol.next < count) symbols[symbol.next].previous = at;
    update(at);
    if (at > 0) update(symbol.previous);
  }
  for (uint32_t at = 0; at < count; at = symbols[at].next) ids->push_back(symbols[at].id);
}

Bpe::Bpe(VocabTable vocab, MergeTable merges, bool ignore_merges)
    : vocab_(std::move(vocab)),
      merges_(std::move(merges)),
      ignore_merges_(ignore_merges),
      byte_pairs_(256 * 256),
      merges_to_itself_(new std::atomic<uint8_t>[vocab_.size()]()) {
  for (size_t byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<uint8_t>(byte));
    byte_ids_[byte] = vocab_.find({&c, 1});
  }
  for (size_t left = 0; left < 256; ++left) {
    for (size_t right = 0; right < 256; ++right) {
      byte_pairs_[256 * left + right] = merges_.find(byte_ids_[left], byte_ids_[right]);
    }
  }
}

bool Bpe::merges_to_itself(int32_t id) const {
  std::atomic<uint8_t>& known = merges_to_itself_[id];
  const uint8_t state = known.load(std::memory_order_relaxed);
  if (state != 0) return state == 1;
  std::vector<int32_t> ids;
  merge(vocab_.bytes(id), &ids);
  const bool itself = ids.size() == 1 && ids[0] == id;
  known.store(itself ? 1 : 2, std::memory_order_relaxed);
  return itself;
}

void Bpe::encode(std::string_view piece, std::vector<int32_t>* ids) const {
  const int32_t id = vocab_.find(piece);
  if (id >= 0 && (ignore_merges_ || merges_to_itself(id))) {
    ids->push_back(id);
  } else {
    merge(piece, ids);
  }
}

void Bpe::merge(std::string_view piece, std::vector<int32_t>* ids) const {
  if (piece.size() <= kShortPiece) {
    merge_short(piece, ids);
  } else {
    merge_long(piece, ids);
  }
}

void Bpe::merge_short(std::string_view piece, std::vector<int32_t>* ids) const {
  int32_t symbols[kShortPiece];
  MergeTable::Merge pairs[kShortPiece];  // pairs[i]: what symbols i and i+1 merge to
  size_t count = piece.size();
  for (size_t i = 0; i < count; ++i) symbols[i] = byte_ids_[static_cast<uint8_t>(piece[i])];
  for (size_t i = 0; i + 1 < count; ++i) {
    pairs[i] = byte_pairs_[256 * static_cast<uint8_t>(piece[i]) + static_cast<uint8_t>(piece[i + 1])];
  }
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == kNoRank) break;
    symbols[best] = pairs[best].id;
    std::copy(symbols + best + 2, symbols + count, symbols + best + 1);
    std::copy(pairs + best + 1, pairs + count - 1, pairs + best);
    --count;
    if (best > 0) pairs[best - 1] = merges_.find(symbols[best - 1], symbols[best]);
    if (best + 1 < count) pairs[best] = merges_.find(symbols[best], symbols[best + 1]);
  }
  ids->insert(ids->end(), symbols, symbols + count);
}

void Bpe::merge_long(std::string_view piece, std::vector<int32_t>* ids) const {
  std::vector<BpeSymbol> symbols(piece.size());
  for (size_t i = 0; i < piece.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(piece[i]);
    symbols[i].id = byte_ids_[byte];
    if (i + 1 < piece.size()) symbols[i].pair = byte_pairs_[256 * byte + static_cast<uint8_t>(piece[i + 1])];
  }
  merge_symbols(merges_, &symbols, ids);
}

}  // namespace omniphi
