// Which instruction set the kernels run on.
#pragma once

#include <string>
#include <vector>

namespace omniphi {

enum class Isa { kRef, kAvx2, kAvx512 };

// "ref", "avx2", "avx512": the values of OMNIPHI_ISA.
const char* isa_name(Isa isa);

// True when this machine and its operating system can run `isa`. kAvx2 means AVX2 with FMA and F16C; kAvx512 means the
// F, BW, DQ and VL parts on top of that.
bool isa_supported(Isa isa);

// The supported ones, slowest first.
std::vector<Isa> supported_isas();

// What OMNIPHI_ISA asks for, else the fastest that is supported. Throws kUsage when it names an unknown instruction set
// or one that the machine lacks: it never falls back silently.
Isa choose_isa();

// "AMD EPYC ..." or "unknown".
std::string cpu_model_name();

}  // namespace omniphi
