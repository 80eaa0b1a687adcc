// Phi-4-multimodal's row of the registry.
#pragma once

#include "models/family/family.h"

namespace omniphi::phi4mm {

const ModelFamily& family();

}  // namespace omniphi::phi4mm
