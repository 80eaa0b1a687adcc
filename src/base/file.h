// Whole files in and out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace omniphi {

// The bytes of a file. Throws an Error of `kind` that names the file when it can't be read, is a folder, or is larger
// than `max_bytes` (checked before anything is allocated).
std::string read_file(const std::filesystem::path& path, size_t max_bytes, ErrorKind kind);

// Replaces the file's content; the old content stays until the new is complete. Throws kInternal with the system's
// reason.
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace omniphi
