// omniphi::Error, under the path that every layer includes. It is defined in the installed headers because callers of
// the C++ API catch it.
#pragma once

#include "omniphi/error.h"  // IWYU pragma: export
