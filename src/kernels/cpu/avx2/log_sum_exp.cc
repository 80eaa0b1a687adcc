#include "kernels/cpu/simd_avx2.h"

#include "kernels/cpu/log_sum_exp.inl.h"
