#include "io/reasons.h"

#include <utility>

namespace omniphi {
namespace {

std::string found_text(const std::vector<Reason>& reasons) {
  if (reasons.size() == 1) return reasons[0].found;
  std::string text = std::to_string(reasons.size()) + " reasons to refuse it:";
  for (const Reason& reason : reasons) text += "\n  - " + reason.to_string();
  return text;
}

}  // namespace

std::string Reason::to_string() const {
  std::string text = where + ": " + found;
  if (!expected.empty()) text += "; expected " + expected;
  if (!remedy.empty()) text += ". " + remedy;
  return text;
}

RefusedError::RefusedError(ErrorKind kind, const std::string& where, std::vector<Reason> reasons)
    : Error(kind, reasons.size() == 1 ? reasons[0].where : where, found_text(reasons),
            reasons.size() == 1 ? reasons[0].expected : "", reasons.size() == 1 ? reasons[0].remedy : ""),
      reasons_(std::move(reasons)) {}

void Reasons::add(std::string where, std::string found, std::string expected, std::string remedy) {
  list_.push_back({std::move(where), std::move(found), std::move(expected), std::move(remedy)});
}

void Reasons::add(const Error& error) {
  if (const auto* refused = dynamic_cast<const RefusedError*>(&error)) {
    list_.insert(list_.end(), refused->reasons().begin(), refused->reasons().end());
    return;
  }
  add(error.where(), error.found(), error.expected(), error.remedy());
}

void Reasons::throw_if_any(ErrorKind kind, const std::string& where) const {
  if (!list_.empty()) throw RefusedError(kind, where, list_);
}

}  // namespace omniphi
