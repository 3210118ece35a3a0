#include "router/pooled_server.h"

#include <utility>

#include <asio/error.hpp>

#include "base/assert.h"
#include "router/hand_over.h"
#include "router/recycle.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

// A connection that was idle for less than this has been looked at by the event loop just now. On the ring
// none needs a look: what came on it before the request that wants it has been told before.
constexpr auto kFresh = 1ms;

}  // namespace

PooledServer::PooledServer(Owner& owner, ServerGroup& group, ServerConnection connection, const Parts& parts,
                           std::size_t statements_max)
    : statements(statements_max),
      settings(parts.settings_store),
      owner_(owner),
      group_(group),
      connection_(std::move(connection)) {
  settings.on_reports(connection_.parameters->entries());
  if (parts.ring != nullptr) net::move_to_ring(*parts.ring, connection_.stream, port_);
  if (!port_) buffer_ = parts.buffers.take();
}

void PooledServer::start() {
  read_on();
}

void PooledServer::read_on() {
  if (reading_ || closed_) return;
  reading_ = true;
  if (port_) {
    // What is pending on a port ends when the port is closed, so it counts as no operation of its own.
    return port_->receive([this](std::error_code ec, net::PooledBuffer buffer, std::size_t count) {
      ++pending_;
      buffer_ = std::move(buffer);
      on_read(ec, count);
    });
  }
  ++pending_;
  connection_.stream.async_read_some(buffer_.span(),
                                     [this](std::error_code ec, std::size_t count) { on_read(ec, count); });
}

bool PooledServer::write_at_once(ByteView bytes) {
  if (bytes.empty()) return true;
  const net::IoOutcome sent = try_write(bytes);
  return sent.status == net::IoStatus::Ok && sent.bytes == bytes.size();
}

void PooledServer::async_wait_writable(std::function<void(std::error_code)> handler) {
  if (port_) {
    on_writable_ = std::move(handler);
    return port_->wait_writable([this](std::error_code ec) {
      ++pending_;
      std::exchange(on_writable_, nullptr)(ec);
      --pending_;
      let_go_if_possible();
    });
  }
  ++pending_;
  connection_.stream.async_wait_writable([this, handler = std::move(handler)](std::error_code ec) {
    handler(ec);
    --pending_;
    let_go_if_possible();
  });
}

// Its user may close it, or hand it on to another, while it is told: it stays alive until this returns.
void PooledServer::on_read(std::error_code ec, std::size_t count) {
  reading_ = false;
  if (!closed_) {
    const ByteView bytes(buffer_.span().data(), count);
    ServerUser::Flow flow = ServerUser::Flow::ReadOn;
    if (ec) {
      flow = ServerUser::Flow::Stop;
      if (user_ != nullptr) {
        user_->on_server_end(ec);
      } else if (cleaner_) {
        cleaner_.reset();
        owner_.on_cleaned(*this, false);
      } else {
        owner_.on_idle_end(*this);
      }
    } else if (user_ != nullptr) {
      flow = user_->on_server_bytes(bytes);
    } else if (cleaner_) {
      on_cleaner_bytes(bytes);
    } else {
      on_idle_bytes(bytes);
    }
    if (port_) buffer_.reset();
    if (flow == ServerUser::Flow::ReadOn) read_on();
  }
  --pending_;
  let_go_if_possible();
}

// Changed settings, notices and notifications may come at any time; all else is the end.
void PooledServer::on_idle_bytes(ByteView bytes) {
  if (!unasked_) unasked_ = std::make_unique<protocol::FrameDecoder>(kUnaskedBytesMax);
  protocol::feed(*unasked_, bytes);
  ParameterSet::Entries changes;
  Bytes notices;  // about things before the coming transaction
  const Unasked state = take_unasked(*unasked_, changes, notices);
  if (state == Unasked::Unfit) return owner_.on_idle_end(*this);
  settings.on_reports(changes);
  if (state == Unasked::None) unasked_.reset();
}

void PooledServer::clean(char status, std::uint32_t doubtful_syncs, std::string reset_query,
                         Clock::time_point give_up_at) {
  SLUICE_ASSERT(user_ == nullptr && !cleaner_ && !closed_);
  cleaner_.emplace(
      Cleaner{protocol::ResetMachine(status, std::move(reset_query), doubtful_syncs), give_up_at});
  ++pending_;
  step_cleaner();
  read_on();
  --pending_;
  let_go_if_possible();
}

void PooledServer::on_cleaner_bytes(ByteView bytes) {
  protocol::feed(cleaner_->machine, bytes);
  step_cleaner();
}

void PooledServer::step_cleaner() {
  const protocol::ResetMachine::Want want = cleaner_->machine.step();
  bool clean = want == protocol::ResetMachine::Want::Done;
  if (want == protocol::ResetMachine::Want::Read) {
    const Bytes output = cleaner_->machine.take_output();
    if (write_at_once(output)) return;
    clean = false;
  }
  if (clean) after_reset(cleaner_->machine, statements, settings);
  cleaner_.reset();
  owner_.on_cleaned(*this, clean);
}

bool PooledServer::fit_for_use(Clock::time_point now) {
  if (closed_ || retired_ || cancels_ > 0 || cleaner_ || unasked_ || send_failed()) return false;
  return port_ || now - idle_since < kFresh || !connection_.stream.has_pending_or_eof();
}

void PooledServer::close() {
  if (std::exchange(closed_, true)) return;
  user_ = nullptr;
  cleaner_.reset();
  if (port_) {
    ++pending_;
    return port_->close([this] { on_port_closed(); });
  }
  connection_.stream.close();
  let_go_if_possible();
}

void PooledServer::on_port_closed() {
  if (const auto handler = std::exchange(on_writable_, nullptr)) handler(asio::error::operation_aborted);
  connection_.stream.close();
  --pending_;
  let_go_if_possible();
}

void PooledServer::cancel_ends() {
  if (--cancels_ == 0 && !closed_) return owner_.on_cancelled(*this);
  let_go_if_possible();
}

void PooledServer::let_go_if_possible() {
  if (closed_ && pending_ == 0 && cancels_ == 0) owner_.on_let_go(*this);
}

}  // namespace sluice::router
