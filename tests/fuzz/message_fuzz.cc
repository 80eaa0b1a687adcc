// A message list or a list of token ids, whichever it parses as: refused as omniphi::Error or accepted, nothing else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "request/messages.h"
#include "text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const omniphi::Prompt prompt = omniphi::parse_messages(json, "fuzz", "/nowhere");
    omniphi::ChatOptions options;
    options.tools = prompt.tools;
    omniphi::render_chat(prompt.messages, options);
  } catch (const omniphi::Error& error) {
    if (error.kind() == omniphi::ErrorKind::kInternal) __builtin_trap();
  }
  try {
    omniphi::parse_token_ids(json, "fuzz");
  } catch (const omniphi::Error& error) {
    if (error.kind() == omniphi::ErrorKind::kInternal) __builtin_trap();
  }
  return 0;
}
