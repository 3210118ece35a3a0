#pragma once

#include <cstdint>

#include "pooling/session_translator.h"
#include "protocol/session_tracker.h"

namespace sluice::pooling {

// May the server go back to the pool? Ask after each SessionTranslator::on_server(), when what it gave has
// been fed to the tracker.
enum class HandBack : std::uint8_t {
  Busy,    // something is owed, in doubt, half sent, or a transaction block is open
  Pinned,  // idle, but the session's state is on this server: SessionTranslator::pins()
  Yes,     // last ReadyForQuery with status I, nothing owed by or to anybody
};

inline HandBack hand_back(const protocol::SessionTracker& tracker,
                          const SessionTranslator& translator) noexcept {
  if (!tracker.clean_for_reuse() || translator.busy()) return HandBack::Busy;
  return translator.pins().empty() && !translator.keeps_server() ? HandBack::Yes : HandBack::Pinned;
}

}  // namespace sluice::pooling
