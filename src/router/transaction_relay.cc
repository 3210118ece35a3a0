#include "router/transaction_relay.h"

#include <string_view>
#include <utility>

#include <asio/error.hpp>
#include <asio/post.hpp>

#include "base/assert.h"
#include "pooling/hand_back.h"
#include "protocol/backend_messages.h"

namespace sluice::router {
namespace {

// For a server that takes no more to say why.
constexpr std::chrono::seconds kLastWords{1};

// Servers in a row that a transaction may lose before anything of its own was sent.
constexpr int kLostInHandOverMax = 5;

}  // namespace

TransactionRelay::TransactionRelay(net::Stream& client, const Parts& parts, Host& host)
    : client_(client),
      tracker_(parts.tracker),
      translator_(parts.translator),
      settings_(parts.settings),
      pools_(parts.pools),
      ring_(parts.ring),
      buffers_(parts.buffers),
      meter_(parts.meter),
      host_(host) {}

TransactionRelay::~TransactionRelay() {
  SLUICE_ASSERT(pending_ == 0 && server_ == nullptr);
}

void TransactionRelay::start(ByteView first, Completion done) {
  SLUICE_ASSERT(!done_);
  done_ = std::move(done);
  last_activity_ = Clock::now();
  if (first.empty()) return read();
  meter_.client_sent(first.size());
  held_.assign(first.begin(), first.end());
  go_on();
}

void TransactionRelay::stop() {
  finish(RelayEnd::Stopped);
}

void TransactionRelay::tick(Clock::time_point now) {
  if (!ending_ && port_ && port_->send_failed()) return finish(RelayEnd::ClientFailed);
  if (!deaf_since_ && server_ != nullptr && server_->send_failed()) deaf_since_ = now;
  if (deaf_since_ && !ending_ && now - *deaf_since_ >= kLastWords)
    return on_server_end(asio::error::timed_out);
  if (std::exchange(moved_, false)) {
    last_activity_ = now;
    return;
  }
  if (ending_) return;
  end_if_all_used();
  if (port_) return;  // neither a buffer nor a watch of its own is needed there
  // cancel() ends every operation of a socket, also the wait to write to it.
  if (reading_ == Reading::Pending && !writing_client_) {
    reading_ = Reading::GoingIdle;
    client_.cancel();
  } else if (reading_ == Reading::No && waiting_since_ && !watched_) {
    wait_idle();
  }
}

// Whatever has changed: on with what the client has sent, and with reading it.
void TransactionRelay::go_on() {
  if (ending_ || using_) return;
  if (client_gone_) return finish_if_left();
  if (!notifications_.empty()) flush_notifications();
  const Clock::time_point now = Clock::now();
  if (translator_holds_ && server_ != nullptr && !hand_over_ && !translator_.held() && held_.empty())
    forward({}, now);
  if (!held_.empty() && !waiting_since_) {
    use_held(now);
    release_if_at_rest(now);
  }
  end_if_all_used();
  if (may_read()) read();
}

void TransactionRelay::begin(PooledServer& server, Clock::time_point now) {
  SLUICE_ASSERT(server_ == nullptr);
  waiting_since_.reset();
  server_ = &server;
  server_held_ = false;
  server.set_user(this);
  if (std::exchange(server.discard_first, false))
    return begin_hand_over(HandOver::Purpose::TakeDiscarded, now);
  if (!settings_.in_step(server.settings)) return begin_hand_over(HandOver::Purpose::Take, now);
  translator_.attach(server.statements, server.settings);
}

void TransactionRelay::begin_hand_over(HandOver::Purpose purpose, Clock::time_point now) {
  const bool asks = purpose == HandOver::Purpose::Return && host_.wants_position();
  hand_over_ =
      std::make_unique<HandOver>(purpose, asks ? HandOver::Position::Asked : HandOver::Position::Unasked,
                                 server_->statements, server_->settings, settings_);
  hand_over_since_ = now;
  run_hand_over(now);
}

void TransactionRelay::run_hand_over(Clock::time_point now) {
  const HandOver::Want want = hand_over_->step();
  const Bytes output = hand_over_->take_output();
  if (want == HandOver::Want::Read) {
    if (!server_->write_at_once(output)) lose_server_in_hand_over();
    return;
  }
  if (want == HandOver::Want::Failed) {
    std::optional<protocol::ErrorFields> error = hand_over_->error();
    if (!error) return lose_server_in_hand_over();
    if (hand_over_->purpose() == HandOver::Purpose::Return) return keep_server();
    // What another client left may be in the way: only of a clean server it is this client's own doing.
    if (hand_over_->purpose() == HandOver::Purpose::Take)
      return begin_hand_over(HandOver::Purpose::TakeDiscarded, now);
    error->severity = "FATAL";
    return host_.settings_refused(*std::move(error));
  }
  if (const auto position = hand_over_->position()) host_.position_known(*position);
  if (hand_over_->stays()) return keep_server();
  const HandOver::Purpose purpose = hand_over_->purpose();
  hand_over_.reset();
  if (purpose == HandOver::Purpose::Return) return release(now);
  Bytes told;
  settings_.append_told(told, server_->settings);
  if (!told.empty()) send_to_client(told);
  if (!ending_) translator_.attach(server_->statements, server_->settings);
}

// What its settings have become is not to be learnt, or is too much, so they cannot follow it.
void TransactionRelay::keep_server() {
  hand_over_.reset();
  translator_.pin(pooling::PinReason::Set);
  host_.server_pinned();
}

// Nothing of the client's was under way: another one will do. But what it had set is gone with a server that
// did not tell it.
void TransactionRelay::lose_server_in_hand_over() {
  const bool was_returning = hand_over_->purpose() == HandOver::Purpose::Return;
  hand_over_.reset();
  if (translator_.attached()) translator_.detach();
  host_.server_left(*std::exchange(server_, nullptr), Left::Broken);
  if (client_gone_) return go_on();
  if (was_returning) return settings_.read_sql().empty() ? go_on() : finish(RelayEnd::ServerClosed);
  if (++lost_in_hand_over_ > kLostInHandOverMax) return finish(RelayEnd::ServerClosed);
  const Clock::time_point now = Clock::now();
  waiting_since_ = now;
  watched_ = false;
  if (PooledServer* const server = host_.server_wanted_again(now)) begin(*server, now);
  go_on();
}

void TransactionRelay::give_up_hand_over() {
  if (hand_over_ && !ending_) lose_server_in_hand_over();
}

void TransactionRelay::give(PooledServer& server, Clock::time_point now) {
  SLUICE_ASSERT(waiting_since_);
  begin(server, now);
  go_on();
}

void TransactionRelay::refuse(const protocol::ErrorFields& error) {
  SLUICE_ASSERT(waiting_since_);
  waiting_since_.reset();
  skip_ = Skip::Request;
  Bytes message;
  protocol::append_error_response(message, error);
  send_to_client(message);
  go_on();
}

void TransactionRelay::tell(const protocol::ErrorFields& notice) {
  SLUICE_ASSERT(waiting_since_);
  Bytes message;
  protocol::append_notice_response(message, notice);
  send_to_client(message);
}

void TransactionRelay::cancel_waiting() {
  if (!waiting_since_ || ending_) return;
  host_.server_not_wanted();
  refuse({"ERROR", "57014", "canceling statement due to user request", "", ""});
}

// As PostgreSQL does with what breaks the protocol.
void TransactionRelay::refuse_message(std::string what) {
  Bytes message;
  protocol::append_error_response(message, {"FATAL", "08P01", std::move(what), "", ""});
  send_to_client(message);
  finish(RelayEnd::ServerJudged);
}

// All pieces in one, for one system call.
ByteView TransactionRelay::contiguous(const pooling::Pieces& pieces) {
  if (pieces.count() == 1) return pieces.view(0);
  Bytes& joined = pools_.joined();
  joined.clear();
  for (std::size_t i = 0; i < pieces.count(); ++i)
    append(joined, pieces.view(i));
  return joined;
}

std::size_t TransactionRelay::forward(ByteView bytes, Clock::time_point now) {
  pooling::Pieces& pieces = pools_.pieces();
  pieces.clear();
  std::size_t taken = translator_.on_client(bytes, now, meter_, pieces);
  while (translator_.has_begun_listens())
    [[unlikely]] {
      if (host_.listens_begun(translator_.take_begun_listens())) break;
      translator_.listens_ready();
      taken += translator_.on_client(bytes.subspan(taken), now, meter_, pieces);
    }
  translator_holds_ = translator_.held();
  to_server(pieces, now);
  if (translator_.awaits_listens()) [[unlikely]]
    tracker_.on_pause(now);
  else
    tracker_.on_resume(now);
  return taken;
}

// The tracker knows what the server really gets.
void TransactionRelay::to_server(const pooling::Pieces& pieces, Clock::time_point now) {
  if (pieces.empty()) return;
  const ByteView out = contiguous(pieces);
  const protocol::SessionTracker::FrontendScan scan = tracker_.on_frontend(out, now);
  send_to_server(out.first(scan.forward_bytes));
  if (ending_) return;
  if (scan.end == protocol::SessionTracker::FrontendEnd::Terminate)
    return client_left(RelayEnd::ClientTerminated);
  if (scan.end == protocol::SessionTracker::FrontendEnd::Malformed) {
    malformed_ = true;  // the server judges the bad header as it would without us, and closes
    reading_ = Reading::Over;
  }
}

void TransactionRelay::send_to_server(ByteView bytes) {
  if (!to_server_.empty()) return append(to_server_, bytes);
  while (!bytes.empty()) {
    const net::IoOutcome outcome = server_->try_write(bytes);
    if (outcome.status == net::IoStatus::Ok) {
      bytes = bytes.subspan(outcome.bytes);
      continue;
    }
    if (outcome.status == net::IoStatus::WouldBlock) {
      to_server_.assign(bytes.begin(), bytes.end());
      ++pending_;
      writing_server_ = true;
      return server_->async_wait_writable([this](std::error_code ec) { on_server_writable(ec); });
    }
    // It takes no more, but its last words (a FATAL) may still be on their way: they end the relay, or
    // tick().
    reading_ = reading_ == Reading::No ? Reading::Over : reading_;
    if (!deaf_since_) deaf_since_ = Clock::now();
    return;
  }
}

void TransactionRelay::on_server_writable(std::error_code ec) {
  --pending_;
  writing_server_ = false;
  if (ending_) return operation_done();
  if (ec) return finish(server_end());
  const Bytes rest = std::exchange(to_server_, {});
  send_to_server(rest);
  if (ending_ || !to_server_.empty()) return;
  moved_ = true;
  release_if_at_rest(Clock::now());
  go_on();
}

void TransactionRelay::send_to_client(ByteView bytes) {
  if (ending_) return;
  if (gated() || !to_client_.empty()) return append(to_client_, bytes);
  while (!bytes.empty()) {
    const net::IoOutcome outcome = port_ ? port_->try_send(bytes) : client_.try_write(bytes);
    if (outcome.status == net::IoStatus::Ok) {
      bytes = bytes.subspan(outcome.bytes);
      continue;
    }
    if (outcome.status != net::IoStatus::WouldBlock) return finish(RelayEnd::ClientFailed);
    to_client_.assign(bytes.begin(), bytes.end());
    if (client_blocked_since_ == Clock::time_point::max()) client_blocked_since_ = Clock::now();
    writing_client_ = true;
    if (port_) return port_->wait_writable([this](std::error_code ec) { on_client_writable(ec); });
    ++pending_;
    client_.async_wait_writable([this](std::error_code ec) {
      --pending_;
      if (ending_) return operation_done();
      on_client_writable(ec);
    });
    return;
  }
}

void TransactionRelay::on_client_writable(std::error_code ec) {
  writing_client_ = false;
  if (ec) return finish(RelayEnd::ClientFailed);
  on_client_drained();
}

// It takes more than it did, or may have more.
void TransactionRelay::on_client_drained() {
  const Bytes rest = std::exchange(to_client_, {});
  send_to_client(rest);
  if (ending_ || !to_client_.empty()) return;
  moved_ = true;
  const Clock::time_point now = Clock::now();
  if (server_ != nullptr) {
    if (client_blocked_since_ != Clock::time_point::max()) tracker_.on_stall(now - client_blocked_since_);
    if (std::exchange(server_held_, false)) server_->read_on();
  }
  client_blocked_since_ = Clock::time_point::max();
  go_on();
}

ServerUser::Flow TransactionRelay::on_server_bytes(ByteView bytes) {
  const PooledServer* const from = server_;
  const Clock::time_point now = Clock::now();
  if (hand_over_) {
    hand_over_->feed(bytes);
    run_hand_over(now);
    go_on();
    return Flow::ReadOn;
  }
  moved_ = true;
  meter_.server_sent(bytes.size());
  tracker_.on_backend(bytes, now, meter_);
  if (tracker_.backend_malformed()) {  // the client gets none of it
    finish(RelayEnd::ServerClosed);
    return Flow::ReadOn;
  }
  pooling::Pieces& answers = pools_.answers();
  pooling::Pieces& again = pools_.pieces();
  answers.clear();
  again.clear();
  const bool awaited_listens = translator_.awaits_listens();
  translator_.on_server(bytes, answers, again);
  if (awaited_listens && !translator_.awaits_listens()) [[unlikely]] {
    tracker_.on_resume(now);
    host_.listens_failed();
  }
  if (translator_.has_listens()) [[unlikely]]
    gated_ = host_.listens_changed(translator_.take_listens()) || gated_;
  settle_early();
  if (!answers.empty()) give_answers(contiguous(answers));
  if (!ending_) to_server(again, now);
  release_if_at_rest(now);
  if (!ending_ && server_ == from && !hand_over_ && !to_client_.empty()) {
    server_held_ = true;
    return Flow::Stop;
  }
  go_on();
  return Flow::ReadOn;
}

void TransactionRelay::on_server_end(std::error_code ec) {
  if (hand_over_) return lose_server_in_hand_over();
  server_gone_ =
      ec == asio::error::eof || tracker_.fatal_seen();  // else it may go on with what it has in hand
  finish(client_gone_ ? client_end_ : server_end());
}

void TransactionRelay::release_if_at_rest(Clock::time_point now) {
  if (ending_ || server_ == nullptr || hand_over_ || translator_holds_ || !to_server_.empty()) return;
  switch (pooling::hand_back(tracker_, translator_)) {
    case pooling::HandBack::Busy:
      return;
    case pooling::HandBack::InDoubt:
      return client_gone_ ? void() : settle_doubt(now);
    case pooling::HandBack::Pinned:
      return host_.server_pinned();
    case pooling::HandBack::Yes:
      break;
  }
  if (!settings_.read_sql().empty() || host_.wants_position())
    return begin_hand_over(HandOver::Purpose::Return, now);
  release(now);
}

// A client that says no more would keep the server for ever.
void TransactionRelay::settle_doubt(Clock::time_point now) {
  pooling::Pieces& pieces = pools_.pieces();
  pieces.clear();
  translator_.settle_doubt(pieces);
  to_server(pieces, now);
}

void TransactionRelay::release(Clock::time_point now) {
  lost_in_hand_over_ = 0;
  settings_.on_hand_back(server_->settings);
  translator_.detach();
  host_.server_done(*std::exchange(server_, nullptr), now);
}

// It waits for what will not come any more: the end of a batch, or of a COPY.
bool TransactionRelay::server_waits_for_client() const noexcept {
  return !tracker_.owes_work() || tracker_.copy_in();
}

// The client sends no more. What the server has in hand it finishes, as it would have with that client.
void TransactionRelay::client_left(RelayEnd end) {
  client_gone_ = true;
  client_end_ = end;
  reading_ = Reading::Over;
  buffer_.reset();
  if (!using_) held_.clear();
  finish_if_left();
}

void TransactionRelay::finish_if_left() {
  if (!client_gone_ || ending_ || hand_over_) return;  // goes on when the server is in step again
  if (server_ == nullptr) return finish(client_end_);
  if (!to_server_.empty()) return;
  if (server_waits_for_client()) return finish(client_end_);
  // A batch without its Sync is not even answered, and half a message not judged: it is told that no more
  // will come, does what it has of the rest, and closes.
  if (tracker_.ends_by_itself() || std::exchange(server_told_, true)) return;
  server_->shutdown_send();
}

TransactionRelay::Left TransactionRelay::how_left(RelayEnd end) const {
  if (server_gone_) return Left::Gone;
  const bool server_ended = end == RelayEnd::ServerClosed || end == RelayEnd::ServerJudged;
  if (server_ended || hand_over_ || !to_server_.empty() || !tracker_.ready_for_reset() || translator_.busy())
    return Left::Broken;
  const bool clean = tracker_.clean_for_reuse() && translator_.pins().empty() &&
                     !translator_.keeps_server() && settings_.read_sql().empty();
  return clean ? Left::Clean : Left::Dirty;
}

void TransactionRelay::finish(RelayEnd end) {
  if (ending_) return;
  ending_ = true;
  end_ = end;
  if (waiting_since_) {
    waiting_since_.reset();
    host_.server_not_wanted();
  }
  if (server_ != nullptr) {
    const Left left = how_left(end);
    if (left == Left::Clean) settings_.on_hand_back(server_->settings);
    hand_over_.reset();
    if (translator_.attached()) translator_.detach();
    host_.server_left(*std::exchange(server_, nullptr), left);
  }
  if (port_) {
    ++pending_;
    port_->close([this] {
      --pending_;
      operation_done();
    });
  } else {
    client_.cancel();
  }
  // Counted as an operation, so that the completion never runs inside the caller.
  ++pending_;
  asio::post(client_.get_executor(), [this] {
    --pending_;
    operation_done();
  });
}

void TransactionRelay::operation_done() {
  if (pending_ > 0) return;
  buffer_.reset();
  if (port_) {
    const Bytes taken = port_->take_unsent();
    to_client_.insert(to_client_.begin(), taken.begin(), taken.end());
  }
  net::leave_ring(port_, client_);
  const Completion done = std::move(done_);
  done(end_);
}

}  // namespace sluice::router
