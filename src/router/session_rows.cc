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
  row.state = phase_ == Phase::Waiting ? "waiting" : "active";
  row.addr = peer_.is_unix ? "unix" : peer_.address;
  row.port = peer_.port;
  const net::SocketAddress local = net::local_address(client_.native_handle());
  row.local_addr = local.is_unix ? "unix" : local.address;
  row.local_port = local.port;
  row.connect_time = connected_at_;
  row.request_time = relay_ ? wall_time(relay_->last_activity(), now) : connected_at_;
  if (phase_ == Phase::Waiting) row.wait = std::chrono::duration_cast<admin::Micros>(now - connected_at_);
  row.link = server_ ? id().value() : 0;
  row.busy = !console() && (phase_ == Phase::Waiting || !at_rest());
  row.fd = client_.native_handle();
  row.tls = tls_text(client_);
  row.application_name = application_name_;
  if (console()) {
    row.priority_class = "console";
    return row;
  }
  row.priority_class = snapshot_->class_name(tag_.priority);
  row.host = tag_.host;
  if (server_) row.replica = server_snapshot_->server_name(server_->server);
  return row;
}

std::optional<admin::ConnectionRow> Session::server_row(admin::WallTime now) const {
  if (!server_) return std::nullopt;
  admin::ConnectionRow row;
  row.id = id().value();
  row.user = tag_.user;
  row.database = tag_.database;
  row.state = "active";
  const net::SocketAddress peer = net::peer_address(server_->stream.native_handle());
  row.addr = peer.is_unix ? "unix" : peer.address;
  row.port = peer.port;
  const net::SocketAddress local = net::local_address(server_->stream.native_handle());
  row.local_addr = local.is_unix ? "unix" : local.address;
  row.local_port = local.port;
  row.connect_time = wall_time(server_->opened_at, now);
  row.request_time = relay_ ? wall_time(relay_->last_activity(), now) : row.connect_time;
  row.link = id().value();
  row.busy = !at_rest();
  row.close_needed = close_needed();
  row.fd = server_->stream.native_handle();
  row.remote_pid = server_->process_id;
  row.tls = tls_text(server_->stream);
  row.application_name = application_name_;
  row.priority_class = snapshot_->class_name(tag_.priority);
  row.host = tag_.host;
  row.replica = server_snapshot_->server_name(server_->server);
  return row;
}

std::optional<net::TcpRoundTrip> Session::take_round_trip() {
  if (!client_.is_open() || peer_.is_unix) return std::nullopt;
  const auto measured = net::tcp_round_trip(client_.native_handle());
  if (!measured || std::exchange(acknowledged_, measured->acknowledged) == measured->acknowledged)
    return std::nullopt;
  return measured;
}

}  // namespace sluice::router
