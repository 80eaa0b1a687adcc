#include "kernels/cpu/simd_avx2.h"

#include "kernels/cpu/kv_store.inl.h"
