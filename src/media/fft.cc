#include "media/fft.h"

#include "base/error.h"

extern "C" {
#include <libavutil/tx.h>
}

namespace omniphi {

// AV_TX_UNALIGNED: the vectors have the alignment of new, which is less than libavutil's vector code may want.
RealFft::RealFft(int size)
    : size_(size), input_(static_cast<size_t>(size)), output_(static_cast<size_t>(size) / 2 + 1) {
  const double scale = 1.0;
  const int status = av_tx_init(&context_, &function_, AV_TX_DOUBLE_RDFT, 0, size, &scale, AV_TX_UNALIGNED);
  if (status < 0) internal_error("RealFft", "libavutil has no transform of size " + std::to_string(size));
}

RealFft::~RealFft() { av_tx_uninit(&context_); }

std::span<const std::complex<double>> RealFft::transform() {
  function_(context_, output_.data(), input_.data(), sizeof(double));
  return output_;
}

}  // namespace omniphi
