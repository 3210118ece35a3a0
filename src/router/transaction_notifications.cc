// What the client is told of notifications, and when.
#include <utility>

#include "pooling/hand_back.h"
#include "router/transaction_relay.h"

namespace sluice::router {

void TransactionRelay::open_gate() {
  if (ending_) return;
  translator_.listens_ready();
  tracker_.on_resume(Clock::now());
  if (std::exchange(gated_, false) && !gated() && !writing_client_) on_client_drained();
  go_on();
}

void TransactionRelay::heard_all() {
  if (!ready_at_) return;
  const auto at = static_cast<std::ptrdiff_t>(*std::exchange(ready_at_, std::nullopt));
  const Bytes told = take_notifications();
  to_client_.insert(to_client_.begin() + at, told.begin(), told.end());
  if (!gated() && !ending_ && !writing_client_) on_client_drained();
}

void TransactionRelay::notify(ByteView message) {
  if (ending_ || client_gone_) return;
  append(notifications_, message);
  flush_notifications();
}

// Of what comes while the client's transaction is not committed for sure nothing is its.
void TransactionRelay::notify_early(const std::string& channel, ByteView message) {
  if (ending_ || client_gone_ || !translator_.commit_in_flight()) return;
  early_.push_back({channel, notifications_.size(), message.size()});
  append(notifications_, message);
}

template <class Keep>
void TransactionRelay::drop_early(Keep keep) {
  Bytes kept;
  std::size_t at = 0;
  const ByteView all = notifications_;
  for (const Early& part : std::exchange(early_, {})) {
    append(kept, all.subspan(at, part.offset - at));
    if (keep(part)) append(kept, all.subspan(part.offset, part.bytes));
    at = part.offset + part.bytes;
  }
  append(kept, all.subspan(at));
  notifications_ = std::move(kept);
}

// When the server has answered.
void TransactionRelay::settle_early() {
  const bool over = translator_.take_listens_over();
  if (over) host_.listens_settled();
  if (!early_.empty() && (over || !translator_.commit_in_flight()))
    drop_early([this](const Early& part) { return host_.listens_to(part.channel); });
}

// What is certain of them.
Bytes TransactionRelay::take_notifications() {
  if (early_.empty()) return std::exchange(notifications_, {});
  const Bytes all = notifications_;
  std::vector<Early> early = early_;
  drop_early([](const Early&) { return false; });
  Bytes told = std::exchange(notifications_, {});
  for (Early& part : early) {
    const std::size_t from = std::exchange(part.offset, notifications_.size());
    append(notifications_, ByteView(all).subspan(from, part.bytes));
  }
  early_ = std::move(early);
  return told;
}

// PostgreSQL tells a client of them only between two transactions of its own.
void TransactionRelay::flush_notifications() {
  if (ending_ || gated() || !to_client_.empty()) return;
  if (server_ != nullptr &&
      (hand_over_ || pooling::hand_back(tracker_, translator_) == pooling::HandBack::Busy))
    return;
  const Bytes told = take_notifications();
  send_to_client(told);
}

// PostgreSQL tells a session that listens of its own NOTIFY before it says that it is ready. What the router
// hears for it comes by another connection.
void TransactionRelay::give_answers(ByteView answers) {
  const std::optional<std::size_t> ready = translator_.ready_at();
  const bool over =
      ready && !ready_at_ && pooling::hand_back(tracker_, translator_) != pooling::HandBack::Busy;
  if (!over || !translator_.take_notified() || !host_.wants_to_hear_all()) return send_to_client(answers);
  send_to_client(answers.first(*ready));
  if (ending_) return;
  ready_at_ = to_client_.size();
  send_to_client(answers.subspan(*ready));
}

}  // namespace sluice::router
