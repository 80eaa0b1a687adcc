#include "kernels/cpu/simd_avx512.h"

#include "kernels/cpu/log_sum_exp.inl.h"
