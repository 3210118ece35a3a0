// What the console shows of a session.

#include <utility>

#include "router/session.h"
#include "router/worker.h"

namespace sluice::router {
namespace {

admin::WallTime wall_time(std::chrono::steady_clock::time_point t, admin::WallTime now) {
  return now - std::chrono::duration_cast<admin::Micros>(std::chrono::steady_clock::now() - t);
}

std::string tls_text(const net::Stream& stream) {
  if (stream.tls() == nullptr) return {};
  return std::string(stream.tls()->protocol_name()) + "/" + std::string(stream.tls()->cipher_name());
}

}  // namespace

admin::ConnectionRow Session::client_row(admin::WallTime now) const {
  admin::ConnectionRow row;
  row.id = id().value();
  row.user = tag_.user;
  row.database = tag_.database;
  const TransactionRelay* const transactions = transactions_ ? transactions_->relay() : nullptr;
  const auto waiting_since = transactions != nullptr ? transactions->waiting_since() : std::nullopt;
  row.state = phase_ == Phase::Waiting || waiting_since ? "waiting" : "active";
  row.addr = peer_.is_unix ? "unix" : peer_.address;
  row.port = peer_.port;
  const net::SocketAddress local = net::local_address(client_.native_handle());
  row.local_addr = local.is_unix ? "unix" : local.address;
  row.local_port = local.port;
  row.connect_time = connected_at_;
  row.request_time = relay_ || transactions != nullptr ? wall_time(last_activity(), now) : connected_at_;
  if (waiting_since) row.wait = std::chrono::duration_cast<admin::Micros>(Clock::now() - *waiting_since);
  if (phase_ == Phase::Waiting) row.wait = std::chrono::duration_cast<admin::Micros>(now - connected_at_);
  row.busy = !console() && (phase_ == Phase::Waiting || !at_rest());
  row.fd = client_.native_handle();
  const ServerConnection* const server = connection();
  row.link = server != nullptr ? id().value() : 0;
  if (transactions_) {
    row.pool_mode = "transaction";
    row.prepared_statements = static_cast<std::int64_t>(transactions_->statement_count());
    row.channels = static_cast<std::int64_t>(transactions_->channel_count());
    if (const auto reason = transactions_->pins().first()) row.pinned = pooling::name(*reason);
  }
  row.tls = tls_text(client_);
  row.application_name = application_name_;
  if (console()) {
    row.priority_class = "console";
    return row;
  }
  row.priority_class = snapshot_->class_name(tag_.priority);
  row.host = tag_.host;
  if (server != nullptr) row.replica = server_name();
  return row;
}

// The server's, as things are at the moment.
const ServerConnection* Session::connection() const noexcept {
  if (server_) return &*server_;
  const PooledServer* const pooled = transactions_ ? transactions_->server() : nullptr;
  return pooled != nullptr ? &pooled->connection() : nullptr;
}

std::string Session::server_name() const {
  const ServerConnection* const server = connection();
  if (server == nullptr) return "any";
  return (server_ ? server_snapshot_ : worker_.snapshot())->server_name(server->server);
}

std::optional<admin::ConnectionRow> Session::server_row(admin::WallTime now) const {
  const ServerConnection* const server = connection();
  if (server == nullptr) return std::nullopt;
  admin::ConnectionRow row;
  row.id = id().value();
  row.user = tag_.user;
  row.database = tag_.database;
  row.state = "active";
  const net::SocketAddress peer = net::peer_address(server->stream.native_handle());
  row.addr = peer.is_unix ? "unix" : peer.address;
  row.port = peer.port;
  const net::SocketAddress local = net::local_address(server->stream.native_handle());
  row.local_addr = local.is_unix ? "unix" : local.address;
  row.local_port = local.port;
  row.connect_time = wall_time(server->opened_at, now);
  row.request_time = phase_ == Phase::Relaying ? wall_time(last_activity(), now) : row.connect_time;
  row.link = id().value();
  row.busy = !at_rest();
  row.close_needed = close_needed();
  row.fd = server->stream.native_handle();
  row.remote_pid = server->process_id;
  row.tls = tls_text(server->stream);
  row.application_name = application_name_;
  row.priority_class = snapshot_->class_name(tag_.priority);
  row.host = tag_.host;
  row.replica = server_name();
  return row;
}

std::optional<net::TcpRoundTrip> Session::take_round_trip() {
  // Behind a proxy the kernel knows the way to the proxy alone.
  if (!client_.is_open() || peer_.is_unix || proxied_) return std::nullopt;
  const auto measured = net::tcp_round_trip(client_.native_handle());
  if (!measured || std::exchange(acknowledged_, measured->acknowledged) == measured->acknowledged)
    return std::nullopt;
  return measured;
}

}  // namespace sluice::router
