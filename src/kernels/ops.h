// The functions behind the kernel tables, declared once for each instruction set. Private to the kernels.
#pragma once

#include "kernels/kernels.h"

#define OMNIPHI_DECLARE_KERNELS(isa)                              \
  namespace omniphi::isa {                                        \
  void matmul(const KernelContext&, const MatmulArgs&);           \
  void rms_norm(const KernelContext&, const NormArgs&);           \
  void layer_norm(const KernelContext&, const NormArgs&);         \
  void rope(const KernelContext&, const RopeArgs&);               \
  void kv_store(const KernelContext&, const KvStoreArgs&);        \
  void attention(const KernelContext&, const AttentionArgs&);     \
  void activation(const KernelContext&, const ActivationArgs&);   \
  void gated(const KernelContext&, const GatedArgs&);             \
  void add(const KernelContext&, const AddArgs&);                 \
  void embed(const KernelContext&, const EmbedArgs&);             \
  void log_sum_exp(const KernelContext&, const LogSumExpArgs&);   \
  void conv3x3_stride2(const KernelContext&, const Conv3x3Args&); \
  void causal_conv(const KernelContext&, const CausalConvArgs&);  \
  }

OMNIPHI_DECLARE_KERNELS(ref)
OMNIPHI_DECLARE_KERNELS(avx2)
OMNIPHI_DECLARE_KERNELS(avx512)

namespace omniphi {

// Out-of-line access to the context for files that are compiled for one instruction set: those must not instantiate
// inline members of shared classes.
int thread_count(const KernelContext& ctx);

// The sequences of an attention call.
const AttentionSequence* attention_sequences(const AttentionArgs& args, int64_t* count);

// Workspace memory for `count` floats, aligned to 64 bytes, until the surrounding Workspace::Mark ends.
float* take_floats(const KernelContext& ctx, int64_t count);

}  // namespace omniphi
