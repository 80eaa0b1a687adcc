// Any bytes as a safetensors file: a header comes back whose tensors lie inside the file, or an omniphi::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace omniphi;
  try {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    const SafetensorsHeader header = parse_safetensors_header(bytes, size, "fuzz", ErrorKind::kCheckpoint);
    uint64_t at = header.tensors.empty() ? size : header.tensors[0].begin;
    for (const TensorEntry& entry : header.tensors) {
      const View view{data + entry.begin, entry.dtype, entry.shape};
      if (entry.begin != at || entry.end > size || view.bytes() != entry.end - entry.begin) std::abort();
      at = entry.end;
    }
    if (at != size) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
