#pragma once

namespace sluice::service {

// From now on no signal reaches the calling thread, nor those it starts: for the end of a process, when
// nobody is left to take one, and SIGHUP by itself would make that a failure.
void hold_back_signals() noexcept;

}  // namespace sluice::service
