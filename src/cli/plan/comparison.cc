#include "cli/plan/comparison.h"

#include <algorithm>
#include <functional>
#include <ostream>

#include "cli/plan/plan_output.h"

namespace omniphi::cli {
namespace {

// A row: what it shows, and its text for a plan.
struct Row {
  std::string title;
  std::function<std::string(const NamedPlan&)> cell;
};

std::vector<Row> rows_of(const PlanRequest& request) {
  using Named = const NamedPlan&;
  const auto count = [](int64_t number) { return std::to_string(number); };
  std::vector<Row> rows = {{"", [](Named p) { return p.name; }},
                           {"family", [](Named p) { return p.plan.family; }},
                           {"crops of an image at most", [=](Named p) { return count(p.plan.max_crops); }}};
  for (size_t i = 0; i < request.images.size(); ++i) {
    rows.push_back({request.images[i].name + ", tokens", [=](Named p) { return count(p.plan.images[i].tokens); }});
    rows.push_back({"  grid of crops", [=](Named p) {
                      const ImageLayout& layout = p.plan.images[i];
                      return count(layout.grid_cols) + "x" + count(layout.grid_rows) + " + 1";
                    }});
  }
  rows.push_back({"any image, tokens at most", [=](Named p) { return count(p.plan.max_image_tokens); }});
  rows.push_back({"prompt, tokens", [=](Named p) { return count(p.plan.prompt_tokens()); }});
  rows.push_back({"prefill work", [](Named p) { return work_text(total(p.plan.prefill_flops)); }});
  rows.push_back({"a token of the answer", [](Named p) { return work_text(p.plan.decode_flops); }});
  rows.push_back({"weights as bf16", [](Named p) { return bytes_text(total(p.plan.weight_bytes)); }});
  rows.push_back({"KV cache a token, bf16", [=](Named p) { return count(p.plan.kv.front().bytes_per_token) + " B"; }});
  rows.push_back(
      {"  this prompt", [](Named p) { return bytes_text(static_cast<double>(p.plan.kv.front().prompt_bytes)); }});
  rows.push_back({"context", [=](Named p) { return count(p.plan.context_tokens); }});
  rows.push_back({"  its KV cache, bf16",
                  [](Named p) { return bytes_text(static_cast<double>(p.plan.kv.front().context_bytes)); }});
  rows.push_back({"longest context that fits", [=](Named p) { return count(p.plan.kv.front().longest_context); }});
  return rows;
}

}  // namespace

OrderedJson comparison_json(const std::vector<NamedPlan>& plans) {
  OrderedJson list = OrderedJson::array();
  for (const NamedPlan& named : plans) list.push_back(plan_json(named.name, named.request, named.plan));
  return OrderedJson{{"plans", std::move(list)}};
}

void print_comparison(const std::vector<NamedPlan>& plans, std::ostream& out) {
  std::vector<std::vector<std::string>> cells;  // [rows][1 + plans]
  std::vector<size_t> widths(plans.size() + 1, 0);
  for (const Row& row : rows_of(plans.front().request)) {
    std::vector<std::string> line = {row.title};
    for (const NamedPlan& named : plans) line.push_back(row.cell(named));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    cells.push_back(std::move(line));
  }
  for (const std::vector<std::string>& line : cells) {
    out << line[0] << std::string(widths[0] - line[0].size(), ' ');
    for (size_t i = 1; i < line.size(); ++i) out << "  " << std::string(widths[i] - line[i].size(), ' ') << line[i];
    out << "\n";
  }
  for (const NamedPlan& named : plans) {
    for (const std::string& remark : remarks(named.plan)) out << "\n" << named.name << ": " << remark;
  }
  out << "\n";
}

}  // namespace omniphi::cli
