// Spectrum of a real signal.
#pragma once

#include <complex>
#include <span>
#include <vector>

struct AVTXContext;

namespace omniphi {

// A double-precision Fourier transform of `size` real values (a power of two), on libavutil's, which the audio decoders
// bring along anyway (FFTW is GPL, Debian's kissfft has float only). One object serves one thread at a time.
class RealFft {
 public:
  explicit RealFft(int size);
  ~RealFft();
  RealFft(const RealFft&) = delete;
  RealFft& operator=(const RealFft&) = delete;

  int size() const { return size_; }
  // Where the caller writes the signal: [size]. Its content is undefined after transform().
  std::span<double> input() { return {input_.data(), static_cast<size_t>(size_)}; }
  // sum_k x[k] exp(-2 pi i k b / size) for b = 0 .. size/2: [size/2 + 1], valid until the next call.
  std::span<const std::complex<double>> transform();

 private:
  int size_;
  AVTXContext* context_ = nullptr;
  void (*function_)(AVTXContext*, void*, void*, ptrdiff_t) = nullptr;
  std::vector<double> input_;
  std::vector<std::complex<double>> output_;
};

}  // namespace omniphi
