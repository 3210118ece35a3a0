#include "service/held_signals.h"

#include <csignal>

namespace sluice::service {

void hold_back_signals() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace sluice::service
