#include "text/chat.h"

#include <array>

#include "base/error.h"
#include "base/utf8.h"

namespace omniphi {
namespace {

constexpr std::array<std::string_view, 5> kRoles = {"system", "user", "assistant", "tool", "tool_response"};

}  // namespace

void refuse_message(size_t index, const std::string& field, const std::string& found, const std::string& expected,
                    const std::string& remedy) {
  throw Error(ErrorKind::kInput, "messages[" + std::to_string(index) + "]." + field, found, expected, remedy);
}

void check_role(const ChatMessage& message, size_t index) {
  for (const std::string_view role : kRoles) {
    if (message.role == role) return;
  }
  std::string role;
  append_replacing_invalid(std::string_view(message.role).substr(0, 60), &role);
  refuse_message(index, "role", "\"" + role + "\"", "system, user, assistant, tool or tool_response",
                 "Give the message one of these roles.");
}

void check_prompt_text(const std::string& part, std::string_view text) {
  const size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos) return;
  throw Error(ErrorKind::kInput, part, "a byte that is not UTF-8 at offset " + std::to_string(bad), "well-formed UTF-8",
              "Convert the " + part + " to UTF-8 first.");
}

}  // namespace omniphi
