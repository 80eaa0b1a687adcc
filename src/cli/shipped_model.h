// The small models that come with omniphi, so that every verb does something sensible before anybody has gigabytes of
// weights: one of each family.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace omniphi::cli {

// What --model calls them. The first is taken when no model is named.
inline constexpr std::string_view kShippedModels[] = {"nano", "nano-phi3v"};
inline constexpr std::string_view kShippedModel = kShippedModels[0];

// Where the shipped model of that name may be, best first: $OMNIPHI_DATA/models/NAME, and nowhere else, when that
// variable is set; otherwise models/NAME beside the executable, ../share/omniphi/models/NAME as installed,
// ../models/NAME as in a checkout with its build folder.
std::vector<std::filesystem::path> shipped_model_places(std::string_view name = kShippedModel);

// The first of those that holds a configuration. Throws kCheckpoint saying where was looked.
std::filesystem::path shipped_model(std::string_view name = kShippedModel);

// demo/demo.json in the first that holds it: what `omniphi demo` asks. Throws kInput saying where was looked.
std::filesystem::path shipped_questions();

// What --model says as resolve_model() takes it: the shipped model when the flag is empty, and that of its name unless
// there is a folder of that name. Throws as shipped_model() does.
std::string model_or_shipped(const std::string& model);

// What one types to run this program: its name when a folder of PATH holds it, else its path.
std::string program_name();

// One line on standard error: which model answers when none was named.
void announce_shipped_model();

}  // namespace omniphi::cli
