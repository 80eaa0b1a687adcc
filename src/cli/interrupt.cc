#include "cli/interrupt.h"

#include <csignal>

namespace omniphi::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
struct sigaction previous;

void on_interrupt(int) { interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: a read of the next line ends too
  sigaction(SIGINT, &action, &previous);
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &previous, nullptr); }

bool InterruptGuard::raised() { return interrupted != 0; }

bool InterruptGuard::take() {
  const bool was = interrupted != 0;
  interrupted = 0;
  return was;
}

}  // namespace omniphi::cli
