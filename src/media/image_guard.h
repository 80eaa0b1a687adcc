// A fence around C libraries that report errors by longjmp. Internal to src/media.
#pragma once

#include <csetjmp>
#include <cstdio>

namespace omniphi {

// libjpeg and libpng leave an error callback by jumping. Jumping over a frame that holds a C++ object with a destructor
// is undefined, so everything that owns memory lives outside the fence, and what runs inside holds plain values only.
struct CGuard {
  std::jmp_buf jump;
  char message[512] = "";

  // From inside an error callback.
  [[noreturn]] void leave() { std::longjmp(jump, 1); }
  [[noreturn]] void leave(const char* text) {
    std::snprintf(message, sizeof(message), "%s", text);
    leave();
  }
};

// Runs body(); false when an error callback left it, with the reason in guard.message. `body` must not own anything and
// must not call anything that does.
template <typename Body>
bool run_guarded(CGuard& guard, const Body& body) {
  if (setjmp(guard.jump) != 0) return false;
  body();
  return true;
}

}  // namespace omniphi
