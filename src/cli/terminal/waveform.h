// A recording as a line of block characters.
#pragma once

#include <span>
#include <string>

namespace omniphi::cli {

// The loudest sample of each of `columns` equal parts, as one of eight block heights, relative to the loudest of all.
// Fewer columns when there are fewer samples; silence is the lowest block throughout. UTF-8, no line end.
std::string draw_waveform(std::span<const double> samples, int columns);

}  // namespace omniphi::cli
