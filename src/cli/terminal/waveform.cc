#include "cli/terminal/waveform.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace omniphi::cli {

std::string draw_waveform(std::span<const double> samples, int columns) {
  constexpr const char* kBlocks[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  const size_t parts = std::min(samples.size(), static_cast<size_t>(std::max(0, columns)));
  std::vector<double> peaks(parts, 0);
  for (size_t i = 0; i < parts; ++i) {
    const size_t begin = samples.size() * i / parts, end = samples.size() * (i + 1) / parts;
    for (const double sample : samples.subspan(begin, end - begin)) peaks[i] = std::max(peaks[i], std::abs(sample));
  }
  const double loudest = parts == 0 ? 0 : *std::max_element(peaks.begin(), peaks.end());
  std::string line;
  for (const double peak : peaks) line += kBlocks[loudest > 0 ? std::min(7, static_cast<int>(peak / loudest * 8)) : 0];
  return line;
}

}  // namespace omniphi::cli
