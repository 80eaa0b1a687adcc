#include "models/phi3v/processor/processor.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"

namespace omniphi::phi3v {
namespace {

[[noreturn]] void refuse_numbers(const std::string& found, size_t images, const std::string& remedy) {
  std::string expected = "no picture ids, as there are no pictures";
  if (images == 1) expected = "-1 once, for the one picture";
  if (images > 1) expected = "-1 to -" + std::to_string(images) + ", each once and in this order";
  throw Error(ErrorKind::kInput, "prompt", found, expected, remedy);
}

// The picture ids of the prompt, in order of appearance, hold to the rules of build_input().
void check_numbers(const std::vector<int32_t>& numbers, bool adjacent, size_t images) {
  std::vector<int32_t> sorted = numbers;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    refuse_numbers("the picture id " + std::to_string(*twice) + " more than once", images,
                   adjacent ? "The ids seem to be expanded already: omniphi expands one id for each picture itself."
                            : "Give a picture that is to be seen twice twice, under two numbers.");
  }
  if (numbers.size() != images) {
    refuse_numbers(std::to_string(numbers.size()) + " picture ids", images,
                   "Give the prompt exactly one id for each picture.");
  }
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto wanted = -static_cast<int32_t>(i) - 1;
    if (sorted[i] != wanted) {
      refuse_numbers("no picture id " + std::to_string(wanted) + ", but " + std::to_string(sorted[i]), images,
                     "Number the pictures from 1 without gaps.");
    }
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != sorted[i]) {
      refuse_numbers("the picture id " + std::to_string(numbers[i]) + " before " + std::to_string(sorted[i]), images,
                     "Give the pictures in the order in which the prompt shows them.");
    }
  }
}

}  // namespace

int64_t ModelInput::image_tokens() const {
  int64_t total = 0;
  for (const ImageInput& image : images) total += image.num_tokens();
  return total;
}

ModelInput build_input(const Config& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images) {
  if (ids.empty()) throw Error(ErrorKind::kInput, "prompt", "no tokens", "at least one token");
  std::vector<int32_t> numbers;
  bool adjacent = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= config.decoder.vocab_size) {
      throw Error(ErrorKind::kInput, "prompt token " + std::to_string(i), "id " + std::to_string(ids[i]),
                  "an id from 0 to " + std::to_string(config.decoder.vocab_size - 1) + ", or -k for picture k");
    }
    if (ids[i] >= 0) continue;
    numbers.push_back(ids[i]);
    adjacent |= i > 0 && ids[i] == ids[i - 1];
  }
  check_numbers(numbers, adjacent, images.size());

  ModelInput input;
  input.images = std::move(images);
  for (const int32_t id : ids) {
    if (id >= 0) {
      input.ids.push_back(id);
      continue;
    }
    MediaSlot slot;
    slot.index = static_cast<int>(input.slots.size());
    slot.offset = static_cast<int64_t>(input.ids.size());
    slot.tokens = input.images[static_cast<size_t>(slot.index)].num_tokens();
    input.slots.push_back(slot);
    input.ids.insert(input.ids.end(), static_cast<size_t>(slot.tokens), id);
  }
  return input;
}

}  // namespace omniphi::phi3v
