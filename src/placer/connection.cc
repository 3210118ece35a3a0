#include "placer/connection.h"

#include <algorithm>

#include <asio/error.hpp>

#include "base/error.h"
#include "placer/worker.h"
#include "telemetry/metrics.h"

namespace sluice::placer {

using telemetry::PlacerRefusal;

Connection::Connection(Worker& worker, std::uint64_t id, net::Stream stream, Origin origin)
    : worker_(worker),
      id_(id),
      origin_(std::move(origin)),
      client_(std::move(stream), worker.buffers(), this),
      view_(worker.view()) {
  deadline_ = header_deadline();
  worker_.metrics().change(telemetry::metric::placer_client_connections, 1);
}

Connection::~Connection() {
  worker_.metrics().change(telemetry::metric::placer_client_connections, -1);
}

Connection::Clock::time_point Connection::header_deadline() const {
  return origin_.accepted + options().request_header_timeout;
}

const http::HeadLimits& Connection::request_limits() const noexcept {
  return view_->snapshot->request_limits;
}

void Connection::start() {
  client_.read();
}

void Connection::drain(Drain how) {
  draining_ = std::max(draining_, how);
  if (draining_ == Drain::Now) {
    keep_alive_ = false;
    if (phase_ == Phase::Head && !head_begun_) close_all();
  }
  settle();
}

void Connection::cut() {
  if (phase_ == Phase::Closed) return;
  if (phase_ == Phase::Exchange || phase_ == Phase::Connecting || phase_ == Phase::Tunnel)
    client_gone(PlacerRefusal::Shutdown);
  close_all();
  settle();
}

// Events come here, and their consequences are drawn to the end before the next one: no handler calls back
// into another.
void Connection::on_read(Channel& channel, std::error_code ec) {
  if (&channel == &client_) {
    on_client_read(ec);
  } else {
    on_upstream_read(ec);
  }
  settle();
}

void Connection::on_writable(Channel& channel, std::error_code) {
  // An error shows in the write that follows.
  if (&channel != &client_) {
    pump_upload();
  } else if (phase_ == Phase::Refusing) {
    flush_refusal();
  } else {
    pump_download();
  }
  settle();
}

void Connection::on_quiet(Channel&) {
  settle();
}

void Connection::settle() {
  while (std::exchange(next_wanted_, false))
    next_request();
  // Nothing of this object may be touched afterwards.
  if (phase_ == Phase::Closed && client_.quiet()) worker_.remove(*this);
}

void Connection::close_all() {
  release_upstream();
  phase_ = Phase::Closed;
  next_wanted_ = false;
  client_.close();
}

// Looks for the next request in what the client has sent so far.
void Connection::next_request() {
  // RFC 9112, section 2.2: empty lines in front of a request are passed over.
  while (!head_begun_ && client_.unread_text().starts_with("\r\n"))
    client_.take(2);
  const std::string_view text = client_.unread_text();
  if (text.empty() || (!head_begun_ && text == "\r")) {
    if (draining_ == Drain::Now || client_ended_) return close_all();
    return client_.read();
  }
  if (!head_begun_) begin_head();
  const http::HeadEnd end = http::find_head_end(text, searched_);
  switch (end.result) {
    case http::HeadSearch::BareLineFeed:
      return refuse(400, "A line of the head ends in LF alone.", PlacerRefusal::Malformed);
    case http::HeadSearch::NeedMore:
      if (text.size() > request_limits().bytes)
        return refuse(431, "The head of the request is too large.", PlacerRefusal::TooLarge);
      if (client_ended_) return close_all();
      return client_.read();
    case http::HeadSearch::Found:
      return handle_head(text.substr(0, end.bytes));
  }
}

// The first byte of a request has come.
void Connection::begin_head() {
  head_begun_ = true;
  view_ = worker_.view();
  request_at_ = Clock::now();
  deadline_ = requests_ == 0 ? header_deadline() : request_at_ + options().request_header_timeout;
  method_ = http::Method::Get;  // until it is known: whoever is refused is told why
  request_line_.clear();
  method_size_ = path_size_ = 0;
  ids_.request_id.clear();
  route_ = view_->routes.size() - 1;
  place_ = {};
  attempts_ = 0;
  sent_bytes_ = upload_bytes_ = answered_bytes_ = 0;
  status_ = 0;
}

void Connection::handle_head(std::string_view bytes) {
  http::RequestHead& head = worker_.request_head();
  const http::Refusal refusal = http::parse_request(bytes, request_limits(), head);
  ++requests_;
  method_ = refusal ? http::Method::Get : head.method;
  if (refusal)
    return refuse(refusal.status, refusal.sentence,
                  refusal.status == 431 ? PlacerRefusal::TooLarge : PlacerRefusal::Malformed);
  const std::uint64_t body_max = options().max_request_body;
  if (body_max > 0 && head.content_length > body_max)
    return refuse(413, "The body of the request is too large.", PlacerRefusal::TooLarge);
  minor_version_ = head.minor_version;
  const std::uint32_t requests_max = options().max_requests_per_connection;
  keep_alive_ = head.keep_alive && draining_ == Drain::No && (requests_max == 0 || requests_ < requests_max);
  upload_framing_ = head.framing;
  upload_left_ = head.content_length;
  has_body_ = head.framing == http::Framing::Chunked || head.content_length > 0;
  upload_ = has_body_ ? Progress::Body : Progress::Read;
  if (upload_framing_ == http::Framing::Chunked) {
    if (upload_decoder_ == nullptr) upload_decoder_ = std::make_unique<http::ChunkDecoder>();
    upload_decoder_->reset();
  }
  find_route(head);
  const ForwardPolicy& forward = view_->snapshot->forward;
  upgrade_ = allowed_upgrade(head, forward);
  to_host_.clear();
  const ClientFacts client{origin_.address, origin_.trusted, origin_.tls};
  append_request_head(to_host_.head, head, forward, client, upgrade_, worker_.rng(), ids_);
  client_.take(bytes.size());
  tried_ = 0;
  fresh_only_ = false;
  start_attempt();
}

void Connection::find_route(const http::RequestHead& head) {
  const auto found = view_->snapshot->table.match(head.method_name, head.path);
  route_ = found.value_or(static_cast<std::uint32_t>(view_->routes.size() - 1));
  request_line_.assign(head.method_name);
  method_size_ = request_line_.size();
  request_line_.append(head.target);
  path_size_ = head.path.size();
}

void Connection::start_attempt() {
  const Snapshot& snapshot = *view_->snapshot;
  attempt_at_ = Clock::now();
  const auto place = choose_place(*view_, route_, tried_, attempt_at_, worker_.rng());
  if (!place) {
    if (tried_ != 0) return refuse(502, "No compute host could be reached.", PlacerRefusal::HostFailed);
    return refuse(503, "No compute host is up.", PlacerRefusal::NoHost);
  }
  place_ = *place;
  placed_ = true;
  ++attempts_;
  const HostPtr& host = snapshot.hosts[place_.host];
  host->in_flight.fetch_add(1, std::memory_order_relaxed);
  worker_.metrics().count(telemetry::metric::placer_decisions_total, place_.policy,
                          view_->routes[route_].effective.missing);
  sent_bytes_ = 0;
  response_begun_ = false;
  if (options().upstream_keepalive && !fresh_only_) {
    if (Upstream* kept = worker_.upstreams().take(*host, *this)) return use(*kept);
  }
  phase_ = Phase::Connecting;
  worker_.connect(host, options().connect_timeout, id_);
}

void Connection::on_connected(net::Stream stream) {
  if (phase_ != Phase::Connecting) return;
  const HostPtr& host = view_->snapshot->hosts[place_.host];
  worker_.metrics().count(telemetry::metric::placer_upstream_connections_total,
                          view_->snapshot->host_labels[place_.host]);
  use(worker_.upstreams().add(std::move(stream), host, *this));
  settle();
}

void Connection::on_connect_failed(std::error_code reason) {
  if (phase_ != Phase::Connecting) return;
  const bool timed_out = reason == std::errc::timed_out || reason == BaseErrc::Timeout;
  host_failed(timed_out ? telemetry::HostFailure::ConnectTimeout : telemetry::HostFailure::Connect);
  tried_ |= std::uint64_t{1} << place_.host;
  const std::string name = host_name();
  release_upstream();
  if (attempts_ <= options().retries) {
    worker_.metrics().count(telemetry::metric::placer_retries_total,
                            view_->snapshot->host_labels[place_.host]);
    start_attempt();
  } else {
    refuse(timed_out ? 504 : 502,
           "The compute host " + name + " cannot be reached: " + reason.message() + ".",
           timed_out ? PlacerRefusal::HostTimeout : PlacerRefusal::HostFailed);
  }
  settle();
}

void Connection::use(Upstream& upstream) {
  upstream_ = &upstream;
  reused_ = upstream.used_before();
  phase_ = Phase::Exchange;
  begin_upload();
}

}  // namespace sluice::placer
