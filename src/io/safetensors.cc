#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/json.h"

namespace omniphi {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxRank = 16;
constexpr size_t kHeaderDepth = 4;  // header, entry, shape

class HeaderReader {
 public:
  HeaderReader(std::string where, ErrorKind kind) : where_(std::move(where)), kind_(kind) {}

  SafetensorsHeader read(std::span<const std::byte> bytes, uint64_t file_size) const;

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& found, const std::string& expected) const {
    throw Error(kind_, field.empty() ? where_ : where_ + ": " + field, found, expected,
                "The file is damaged or not a safetensors file: download it again.");
  }
  uint64_t header_length(std::span<const std::byte> bytes, uint64_t file_size) const;
  std::map<std::string, std::string> read_metadata(const json& value) const;
  TensorEntry read_entry(const std::string& name, const json& value) const;
  Shape read_shape(const std::string& field, const json& value, DType dtype, uint64_t* bytes) const;
  void check_order(std::vector<TensorEntry>& tensors, uint64_t data_size) const;

  std::string where_;
  ErrorKind kind_;
};

uint64_t HeaderReader::header_length(std::span<const std::byte> bytes, uint64_t file_size) const {
  if (file_size < kLengthBytes || bytes.size() < kLengthBytes) {
    fail("", std::to_string(file_size) + " bytes", "at least the 8 bytes of the header's length");
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  if (length > kMaxSafetensorsHeader) {
    fail("", "a header of " + std::to_string(length) + " bytes",
         "at most " + std::to_string(kMaxSafetensorsHeader) + " bytes");
  }
  if (length > file_size - kLengthBytes || length > bytes.size() - kLengthBytes) {
    fail("", "a header of " + std::to_string(length) + " bytes in a file of " + std::to_string(file_size),
         "a header that ends inside the file");
  }
  return length;
}

std::map<std::string, std::string> HeaderReader::read_metadata(const json& value) const {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) fail("__metadata__", show_json(value), "an object of strings");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) fail("__metadata__." + show_text(key), show_json(text), "a string");
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

Shape HeaderReader::read_shape(const std::string& field, const json& value, DType dtype, uint64_t* bytes) const {
  if (!value.is_array() || value.size() > kMaxRank) {
    fail(field + ".shape", show_json(value), "a list of at most " + std::to_string(kMaxRank) + " sizes");
  }
  std::vector<int64_t> extents;
  // The product of the sizes other than zero bounds every count that is made from them later.
  int64_t product = 1;
  bool empty = false;
  for (const json& extent : value) {
    if (!extent.is_number_unsigned() || extent.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
      fail(field + ".shape", show_json(value), "sizes of zero or more");
    }
    extents.push_back(extent.get<int64_t>());
    if (extents.back() == 0) empty = true;
    if (extents.back() != 0 && __builtin_mul_overflow(product, extents.back(), &product)) {
      fail(field + ".shape", show_json(value), "sizes whose product fits 63 bits");
    }
  }
  int64_t total = 0;
  if (__builtin_mul_overflow(product, static_cast<int64_t>(dtype_size(dtype)), &total)) {
    fail(field + ".shape", show_json(value), "a tensor of less than 2^63 bytes");
  }
  *bytes = empty ? 0 : static_cast<uint64_t>(total);
  return Shape(std::move(extents));
}

TensorEntry HeaderReader::read_entry(const std::string& name, const json& value) const {
  const std::string field = show_text(name);
  if (!value.is_object()) fail(field, show_json(value), "an object with dtype, shape and data_offsets");
  for (const auto& [key, unused] : value.items()) {
    if (key != "dtype" && key != "shape" && key != "data_offsets") {
      fail(field, "the key " + show_text(key), "only dtype, shape and data_offsets");
    }
  }
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!value.contains(key)) fail(field, std::string("no ") + key, "dtype, shape and data_offsets");
  }
  TensorEntry entry;
  entry.name = name;
  const json& dtype = value["dtype"];
  if (!dtype.is_string() || !parse_dtype(dtype.get_ref<const std::string&>(), &entry.dtype)) {
    fail(field + ".dtype", show_json(dtype), "F32, BF16, F16, F64, I64, I32, I16, I8, U8 or BOOL");
  }
  uint64_t bytes = 0;
  entry.shape = read_shape(field, value["shape"], entry.dtype, &bytes);
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    fail(field + ".data_offsets", show_json(offsets), "two offsets of zero or more");
  }
  entry.begin = offsets[0].get<uint64_t>();
  entry.end = offsets[1].get<uint64_t>();
  if (entry.end < entry.begin || entry.end - entry.begin != bytes) {
    fail(field + ".data_offsets", show_json(offsets),
         std::to_string(bytes) + " bytes, as dtype and shape " + entry.shape.to_string() + " need");
  }
  return entry;
}

// Sorts by position, and requires that the tensors tile the data exactly.
void HeaderReader::check_order(std::vector<TensorEntry>& tensors, uint64_t data_size) const {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const TensorEntry& entry : tensors) {
    if (entry.begin != at) {
      fail(show_text(entry.name) + ".data_offsets",
           "it begins at byte " + std::to_string(entry.begin) + (entry.begin < at ? ", an overlap" : ", after a hole"),
           "byte " + std::to_string(at) + ", where the tensor before it ends");
    }
    at = entry.end;
  }
  if (at != data_size) {
    fail("", "the tensors take " + std::to_string(at) + " bytes, the file holds " + std::to_string(data_size),
         "a file that ends with its last tensor");
  }
}

SafetensorsHeader HeaderReader::read(std::span<const std::byte> bytes, uint64_t file_size) const {
  const uint64_t length = header_length(bytes, file_size);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  if (text.empty() || text[0] != '{') fail("", "a header that doesn't begin with {", "a JSON object");
  const json root = parse_json(text, where_, kind_, kHeaderDepth);
  SafetensorsHeader header;
  for (const auto& [name, value] : root.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(value);
    } else {
      header.tensors.push_back(read_entry(name, value));
    }
  }
  const uint64_t data_start = kLengthBytes + length;
  check_order(header.tensors, file_size - data_start);
  for (TensorEntry& entry : header.tensors) {
    entry.begin += data_start;
    entry.end += data_start;
  }
  return header;
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, uint64_t file_size,
                                           const std::string& where, ErrorKind kind) {
  return HeaderReader(where, kind).read(bytes, file_size);
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path, ErrorKind kind) {
  SafetensorsFile file;
  file.path_ = path;
  file.kind_ = kind;
  file.map_ = MappedFile(path, kind);
  file.header_ = parse_safetensors_header(file.map_.bytes(), file.map_.size(), path.string(), kind);
  for (size_t i = 0; i < file.header_.tensors.size(); ++i) file.index_[file.header_.tensors[i].name] = i;
  return file;
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &header_.tensors[found->second];
}

View SafetensorsFile::view(const TensorEntry& entry) const {
  return View{map_.bytes().data() + entry.begin, entry.dtype, entry.shape};
}

View SafetensorsFile::tensor(std::string_view name) const {
  const TensorEntry* entry = find(name);
  if (entry == nullptr) throw Error(kind_, path_.string(), "no tensor " + show_text(name), "a tensor of that name");
  return view(*entry);
}

}  // namespace omniphi
