#include "kernels/cpu/simd_avx512.h"

#include "kernels/cpu/kv_store.inl.h"
