#include "base/error.h"
#include "kernels/kernels.h"
#include "kernels/ops.h"

namespace omniphi {
namespace {

constexpr KernelTable kRefTable = {
    .isa = Isa::kRef,
    .matmul = ref::matmul,
    .rms_norm = ref::rms_norm,
    .layer_norm = ref::layer_norm,
    .rope = ref::rope,
    .kv_store = ref::kv_store,
    .attention = ref::attention,
    .activation = ref::activation,
    .gated = ref::gated,
    .add = ref::add,
    .embed = ref::embed,
    .log_sum_exp = ref::log_sum_exp,
    .conv3x3_stride2 = ref::conv3x3_stride2,
    .causal_conv = ref::causal_conv,
};

#if defined(__x86_64__)
constexpr KernelTable kAvx2Table = {
    .isa = Isa::kAvx2,
    .matmul = avx2::matmul,
    .rms_norm = avx2::rms_norm,
    .layer_norm = avx2::layer_norm,
    .rope = avx2::rope,
    .kv_store = avx2::kv_store,
    .attention = avx2::attention,
    .activation = avx2::activation,
    .gated = avx2::gated,
    .add = avx2::add,
    .embed = avx2::embed,
    .log_sum_exp = avx2::log_sum_exp,
    .conv3x3_stride2 = avx2::conv3x3_stride2,
    .causal_conv = avx2::causal_conv,
};

constexpr KernelTable kAvx512Table = {
    .isa = Isa::kAvx512,
    .matmul = avx512::matmul,
    .rms_norm = avx512::rms_norm,
    .layer_norm = avx512::layer_norm,
    .rope = avx512::rope,
    .kv_store = avx512::kv_store,
    .attention = avx512::attention,
    .activation = avx512::activation,
    .gated = avx512::gated,
    .add = avx512::add,
    .embed = avx512::embed,
    .log_sum_exp = avx512::log_sum_exp,
    .conv3x3_stride2 = avx512::conv3x3_stride2,
    .causal_conv = avx512::causal_conv,
};
#endif

}  // namespace

const KernelTable& kernel_table(Isa isa) {
  switch (isa) {
    case Isa::kRef:
      return kRefTable;
#if defined(__x86_64__)
    case Isa::kAvx2:
      return kAvx2Table;
    case Isa::kAvx512:
      return kAvx512Table;
#else
    case Isa::kAvx2:
    case Isa::kAvx512:
      break;
#endif
  }
  internal_error("kernel_table", std::string("no kernels for ") + isa_name(isa));
}

}  // namespace omniphi
