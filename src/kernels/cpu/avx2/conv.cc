#include "kernels/cpu/simd_avx2.h"

#include "kernels/cpu/conv.inl.h"
