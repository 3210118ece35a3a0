#pragma once

#include <cstdint>

#include "pooling/session_translator.h"
#include "protocol/session_tracker.h"

namespace sluice::pooling {

// May the server go back to the pool? Ask after each SessionTranslator::on_server(), when what it gave has
// been fed to the tracker.
enum class HandBack : std::uint8_t {
  Busy,     // something is owed, half sent, or a transaction block is open
  InDoubt,  // idle, but for Syncs that may still be answered: SessionTranslator::settle_doubt()
  Pinned,   // idle, but the session's state is on this server: SessionTranslator::pins()
  Yes,      // last ReadyForQuery with status I, nothing owed by or to anybody
};

inline HandBack hand_back(const protocol::SessionTracker& tracker,
                          const SessionTranslator& translator) noexcept {
  if (!tracker.ready_for_reset() || tracker.transaction_status() != 'I' || translator.busy())
    return HandBack::Busy;
  if (tracker.doubtful_syncs() > 0) return HandBack::InDoubt;
  return translator.pins().empty() && !translator.keeps_server() ? HandBack::Yes : HandBack::Pinned;
}

}  // namespace sluice::pooling
