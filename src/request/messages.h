// The OpenAI message list, as the command line, a server and a trainer take it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "io/json.h"
#include "request/prompt.h"

namespace omniphi {

// Deepest nesting of lists and objects in a message list, tool schemas included.
inline constexpr size_t kMaxMessageDepth = 64;
// Largest message list in bytes; media inside it count with their base64.
inline constexpr size_t kMaxMessageBytes = size_t{1} << 30;

// Reads a message list: a JSON list of messages, or an object with `messages` and, if wanted, `tools`.
//
//   message   {"role": system | developer | user | assistant | tool | tool_response, "content": text or list of parts}
//             `developer` is the newer name of `system`. A system message may carry `tools`: text that is rendered as
//             it stands, or a list that becomes compact JSON. `name` and `tool_call_id` are accepted with a warning:
//             the model's template has no place for them.
//   parts     {"type": "text", "text": TEXT}
//             {"type": "image_url", "image_url": {"url": URL, "detail": "auto" | "high" | "low"}}
//             {"type": "input_audio", "input_audio": {"data": BASE64, "format": "wav"}}
//             {"type": "audio_url", "audio_url": {"url": URL}}
//             A URL is a data: or file: URL or a path, relative to `folder`; `data` may be one too. "low" limits an
//             image to one local crop; the others leave the limit to the request.
//
// Tools become JSON without white space, keys in the order given, characters beyond ASCII as UTF-8.
//
// Everything else is refused as kInput with its place, what was found and what was expected: unknown keys, roles and
// part types (videos and documents by name), tool calls (the template has no form for them), network addresses,
// duplicate keys, deep nesting. No file is read. `where` names the list in errors.
Prompt parse_messages(std::string_view json, const std::string& where, const std::filesystem::path& folder);

// The JSON of a request, checked for what a parser lets pass: depth, UTF-8, keys that occur twice.
nlohmann::ordered_json parse_request_json(std::string_view json, const std::string& where);

// The same from JSON that parse_request_json() made.
Prompt request_prompt(const nlohmann::ordered_json& root, const std::string& where,
                      const std::filesystem::path& folder);

// The same from a file; relative paths resolve against its folder. "-" is standard input and the current folder.
Prompt read_messages(const std::filesystem::path& path);

}  // namespace omniphi
