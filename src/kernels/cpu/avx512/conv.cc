#include "kernels/cpu/simd_avx512.h"

#include "kernels/cpu/conv.inl.h"
