// The small model that comes with omniphi, so that every verb does something sensible before anybody has 11 GB of
// weights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace omniphi::cli {

// What --model calls it.
inline constexpr const char* kShippedModel = "nano";

// Where the shipped model may be, best first: $OMNIPHI_DATA/models/nano, and nowhere else, when that variable is set;
// otherwise models/nano beside the executable, ../share/omniphi/models/nano as installed, ../models/nano as in a
// checkout with its build folder.
std::vector<std::filesystem::path> shipped_model_places();

// The first of those that holds a configuration. Throws kCheckpoint saying where was looked.
std::filesystem::path shipped_model();

// demo/demo.json in the first that holds it: what `omniphi demo` asks. Throws kInput saying where was looked.
std::filesystem::path shipped_questions();

// What --model says as resolve_model() takes it: the shipped model when the flag is empty, and for its name unless
// there is a folder of that name. Throws as shipped_model() does.
std::string model_or_shipped(const std::string& model);

// What one types to run this program: its name when a folder of PATH holds it, else its path.
std::string program_name();

// One line on standard error: which model answers when none was named.
void announce_shipped_model();

}  // namespace omniphi::cli
