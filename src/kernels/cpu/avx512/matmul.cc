#include "kernels/cpu/simd_avx512.h"

#include "kernels/cpu/matmul.inl.h"
