// How requests and connections end, well or not.

#include "http/page.h"
#include "placer/connection.h"
#include "placer/worker.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace sluice::placer {

using telemetry::HostFailure;
using telemetry::PlacerRefusal;

std::string Connection::host_name() const {
  return view_->snapshot->hosts[place_.host]->name;
}

// The whole response has been written.
void Connection::finish_response() {
  const bool whole = upload_ == Progress::Read && to_host_.empty();
  // Asks the kernel too: what a host sent beyond its response must not answer the next request.
  const bool keep_host =
      whole && host_keep_alive_ && options().upstream_keepalive && !upstream_->channel().has_pending_or_eof();
  Upstream* const upstream = std::exchange(upstream_, nullptr);
  if (keep_host) {
    worker_.upstreams().put(*upstream, options().max_idle_upstream, Clock::now());
  } else {
    worker_.upstreams().discard(*upstream);
  }
  HostState& host = *view_->snapshot->hosts[place_.host];
  host.note_success();
  if (status_ >= 500)
    worker_.metrics().count(telemetry::metric::placer_host_failures_total,
                            view_->snapshot->host_labels[place_.host], HostFailure::Status5xx);
  account(status_, status_ >= 500 ? Verdict::Failed : Verdict::Answered);
  if (!whole) return linger();
  if (!keep_alive_ || draining_ == Drain::Now) {
    // What the client still sends would draw a reset over the response's end.
    if (!client_.empty()) return linger();
    return close_all();
  }
  phase_ = Phase::Head;
  head_begun_ = false;
  searched_ = 0;
  deadline_ = Clock::now() + options().keepalive_timeout;
  next_wanted_ = true;
}

void Connection::finish_tunnel() {
  if (upload_ != Progress::Broken || download_ != Progress::Broken) return;
  account(status_, Verdict::Answered);
  close_all();
}

// A kept connection that died before it gave a byte. True: the request is on its way again, over a fresh one.
bool Connection::retry_after_silence() {
  const bool untouched = sent_bytes_ == 0;
  const bool harmless = !has_body_ && http::is_idempotent(method_);
  if (!reused_ || fresh_only_ || options().retries == 0 || !(untouched || harmless)) return false;
  worker_.metrics().count(telemetry::metric::placer_retries_total, view_->snapshot->host_labels[place_.host]);
  fresh_only_ = true;
  const std::size_t host = place_.host;
  Upstream* const upstream = std::exchange(upstream_, nullptr);
  worker_.upstreams().discard(*upstream);
  // The same host: it closed an idle connection, which is no sign of trouble.
  sent_bytes_ = 0;
  phase_ = Phase::Connecting;
  worker_.connect(view_->snapshot->hosts[host], options().connect_timeout, id_);
  return true;
}

void Connection::host_failed(HostFailure failure) {
  const Snapshot& snapshot = *view_->snapshot;
  HostState& host = *snapshot.hosts[place_.host];
  worker_.metrics().count(telemetry::metric::placer_host_failures_total, snapshot.host_labels[place_.host],
                          failure);
  if (!host.note_failure(snapshot.options().max_failures)) return;
  worker_.metrics().count(telemetry::metric::placer_host_changes_total, snapshot.host_labels[place_.host]);
  log::warning("compute host taken out", {{"host", host.name}, {"reason", "requests in a row failed"}});
}

// Gives host and upstream connection back, when a request ends otherwise than by its whole response.
void Connection::release_upstream() {
  if (upstream_ != nullptr) worker_.upstreams().discard(*std::exchange(upstream_, nullptr));
  if (std::exchange(placed_, false)) {
    view_->snapshot->hosts[place_.host]->in_flight.fetch_sub(1, std::memory_order_relaxed);
    const auto now = Clock::now();
    finish_place(*view_, route_, place_, Verdict::GivenUp, now - attempt_at_, now);
  }
}

// Of a request that a host was chosen for. `status`: what the client got, 0 = nothing.
void Connection::account(int status, Verdict verdict) {
  const auto now = Clock::now();
  const Snapshot& snapshot = *view_->snapshot;
  const telemetry::HostLabel host = snapshot.host_labels[place_.host];
  const telemetry::RouteLabel route = snapshot.route_labels[route_];
  telemetry::ThreadMetrics& metrics = worker_.metrics();
  const int status_class = status / 100;
  metrics.count(telemetry::metric::placer_requests_total, host,
                status_class >= 1 && status_class <= 5 ? static_cast<telemetry::StatusClass>(status_class - 1)
                                                       : telemetry::StatusClass::None);
  metrics.count(telemetry::metric::placer_route_requests_total, host, route);
  metrics.add(telemetry::metric::placer_client_received_bytes_total, sent_bytes_);
  metrics.add(telemetry::metric::placer_client_sent_bytes_total, answered_bytes_);
  if (verdict == Verdict::Answered && status != 101)
    metrics.record(telemetry::metric::placer_response_seconds, now - attempt_at_, host, route);
  if (std::exchange(placed_, false)) {
    snapshot.hosts[place_.host]->in_flight.fetch_sub(1, std::memory_order_relaxed);
    const bool teaches = status != 101 && verdict != Verdict::GivenUp;
    finish_place(*view_, route_, place_, teaches ? verdict : Verdict::GivenUp, now - attempt_at_, now);
  }
  log_line(status, snapshot.hosts[place_.host]->name);
}

void Connection::log_line(int status, std::string_view host) {
  if (!worker_.logs_requests()) return;
  const auto now = Clock::now();
  const std::string_view line = request_line_;
  const auto& routes = view_->snapshot->config->routes;
  RequestLine request;
  request.client = origin_.address;
  request.method = line.substr(0, method_size_);
  request.target = line.substr(method_size_);
  request.path_size = path_size_;
  request.status = status;
  request.request_bytes = sent_bytes_;
  request.response_bytes = answered_bytes_;
  request.total = now - request_at_;
  if (!host.empty()) request.host_time = now - attempt_at_;
  request.host = host;
  if (route_ < routes.size()) request.route = routes[route_].pattern;
  request.policy = place_.policy;
  request.request_id = ids_.request_id;
  request.attempts = attempts_;
  worker_.log_request(request);
}

// An answer of our own, before any byte of a response went out.
void Connection::refuse(int status, std::string_view sentence, PlacerRefusal reason) {
  worker_.metrics().count(telemetry::metric::placer_refusals_total, reason);
  if (placed_) {
    account(status, reason == PlacerRefusal::HostFailed || reason == PlacerRefusal::HostTimeout
                        ? Verdict::Failed
                        : Verdict::GivenUp);
  } else {
    log_line(status, {});
  }
  release_upstream();
  begin_refusal(status, sentence);
}

void Connection::begin_refusal(int status, std::string_view sentence) {
  http::Page page;
  page.status = status;
  page.body = std::to_string(status) + " " + std::string(http::reason_phrase(status)) + ": " +
              std::string(sentence) + "\n";
  phase_ = Phase::Refusing;
  to_client_.clear();
  to_client_.head =
      http::serialize(page, method_ == http::Method::Head ? http::Body::HeadersAlone : http::Body::Whole,
                      http::Connection::Close, std::chrono::system_clock::now());
  deadline_ = Clock::now() + options().write_stall_timeout;
  flush_refusal();
}

void Connection::flush_refusal() {
  std::uint64_t written = 0;
  switch (flush(to_client_, client_, written)) {
    case Flush::Blocked:
      return client_.wait_writable();
    case Flush::Failed:
      return close_all();
    case Flush::Done:
      return linger();
  }
}

// No byte of a final response went out, and what went out before it is whole.
bool Connection::can_answer() const noexcept {
  return status_ == 0 && to_client_.empty();
}

// The request's body turned out to be bad.
void Connection::refuse_body(int status, std::string_view sentence, PlacerRefusal reason) {
  if (can_answer()) return refuse(status, sentence, reason);
  client_gone(reason);
}

// The host's fault. Before the response has begun the client is told; afterwards it is cut off, so that it
// cannot take what it has got for the whole.
void Connection::fail_exchange(int status, const std::string& sentence, HostFailure failure,
                               PlacerRefusal reason) {
  host_failed(failure);
  if (can_answer()) return refuse(status, sentence, reason);
  worker_.metrics().count(telemetry::metric::placer_refusals_total, reason);
  account(status_, Verdict::Failed);
  client_.abort();
  close_all();
}

// The client's fault, or ours: nobody is left to be told.
void Connection::client_gone(PlacerRefusal reason) {
  worker_.metrics().count(telemetry::metric::placer_refusals_total, reason);
  if (placed_) account(status_ != 0 ? status_ : 0, Verdict::GivenUp);
  if (phase_ != Phase::Head) client_.abort();
  close_all();
}

void Connection::linger() {
  if (client_ended_) return close_all();
  phase_ = Phase::Linger;
  lingered_bytes_ = client_.unread().size();
  client_.take(client_.unread().size());
  deadline_ = Clock::now() + Worker::kLingerTime;
  client_.stream().shutdown_send();
  client_.read();
}

}  // namespace sluice::placer
