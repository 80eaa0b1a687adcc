#include "base/cpu.h"

#include <cstdlib>
#include <fstream>

#include "base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace omniphi {
namespace {

constexpr Isa kAll[] = {Isa::kRef, Isa::kAvx2, Isa::kAvx512};

#if defined(__x86_64__)
// clang 14's __builtin_cpu_supports doesn't know F16C.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

}  // namespace

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kRef:
      return "ref";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

bool isa_supported(Isa isa) {
  if (isa == Isa::kRef) return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  if (isa == Isa::kAvx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : kAll) {
    if (isa_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

Isa choose_isa() {
  const std::vector<Isa> supported = supported_isas();
  const char* forced = std::getenv("OMNIPHI_ISA");
  if (forced == nullptr || *forced == '\0') return supported.back();
  std::string names;
  for (const Isa isa : supported) names += (names.empty() ? "" : ", ") + std::string(isa_name(isa));
  for (const Isa isa : kAll) {
    if (std::string(forced) != isa_name(isa)) continue;
    if (isa_supported(isa)) return isa;
    throw Error(ErrorKind::kUsage, "OMNIPHI_ISA", std::string("\"") + forced + "\", which this machine lacks",
                "one of " + names, "Unset OMNIPHI_ISA to take the fastest.");
  }
  throw Error(ErrorKind::kUsage, "OMNIPHI_ISA", std::string("\"") + forced + "\"", "one of " + names,
              "Unset OMNIPHI_ISA to take the fastest.");
}

std::string cpu_model_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace omniphi
