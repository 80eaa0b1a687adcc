// The row of the registry of Phi-3-vision and Phi-3.5-vision.
#pragma once

#include "models/family/family.h"

namespace omniphi::phi3v {

const ModelFamily& family();

}  // namespace omniphi::phi3v
