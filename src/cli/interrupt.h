// Ctrl-C as a request to stop an answer instead of the end of the program.
#pragma once

namespace omniphi::cli {

// While it lives, SIGINT only raises a flag.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Thrown to leave work that has no other way out.
  struct Interrupted {};

  // Whether SIGINT came since the last call.
  static bool take();
  // The same without lowering the flag.
  static bool raised();
};

}  // namespace omniphi::cli
