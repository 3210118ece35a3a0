#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/head.h"
#include "placer/body_relay.h"
#include "placer/channel.h"
#include "placer/chooser.h"
#include "placer/forward_head.h"
#include "placer/snapshot.h"
#include "placer/upstream_pool.h"
#include "telemetry/labels.h"

namespace sluice::placer {

class Worker;

enum class Drain : std::uint8_t { No, AfterNext, Now };

// One client's connection: its requests one after the other, each passed on to a compute host and answered
// from there. A state machine over the events of two channels. Both directions of a request run at the same
// time, each with at most one buffer: what the other side does not take yet waits there, and nothing more is
// read from this side meanwhile. Lifetime: owned by the worker, which is asked to remove it when nothing is
// pending any more; the last act of each event is to look whether that is so. Thread: the worker's.
class Connection final : public ChannelUser {
 public:
  using Clock = std::chrono::steady_clock;
  struct Origin {
    std::string address;  // numeric, "" for a Unix socket
    bool trusted = false;
    bool tls = false;
    Clock::time_point accepted{};
  };

  Connection(Worker& worker, std::uint64_t id, net::Stream stream, Origin origin);
  ~Connection();

  std::uint64_t id() const noexcept { return id_; }
  void start();
  // To be called some times a second.
  void tick(Clock::time_point now);
  // Takes no further request: an idle connection is closed, a busy one after its response. AfterNext: one
  // whose client has not been told so gets its next request answered first, as that may be on its way.
  void drain(Drain how);
  // Ends it now, whatever it does.
  void cut();

  // From Worker::connect: a connection to the host of the current attempt, or why there is none.
  void on_connected(net::Stream stream);
  void on_connect_failed(std::error_code reason);

  void on_read(Channel& channel, std::error_code ec) override;
  void on_writable(Channel& channel, std::error_code ec) override;
  void on_quiet(Channel& channel) override;

 private:
  enum class Phase : std::uint8_t {
    Head,        // waits for, or reads, the head of a request
    Connecting,  // waits for a connection to the host
    Exchange,    // request and response under way
    Tunnel,      // upgraded: bytes both ways
    Refusing,    // our own answer is being written
    Linger,      // all is said; reads away what the client still sends, so that no reset overtakes the answer
    Closed,
  };
  // How far a direction is.
  enum class Progress : std::uint8_t {
    Head,    // upload: never; download: the response's head is awaited
    Body,    // bytes come
    Read,    // all were read; the last of them may still wait to be written
    Broken,  // the other side takes no more
  };

  // connection.cc: heads and the life of the connection
  void next_request();
  void begin_head();
  void handle_head(std::string_view bytes);
  void find_route(const http::RequestHead& head);
  void start_attempt();
  void use(Upstream& upstream);
  void settle();
  void close_all();
  Clock::time_point header_deadline() const;

  // connection_upload.cc
  void begin_upload();
  void pump_upload();
  bool read_upload();
  void upload_broken();
  void on_client_read(std::error_code ec);

  // connection_download.cc
  void pump_download();
  bool read_download();
  bool take_response_head();
  bool begin_response(const http::ResponseHead& head, std::size_t bytes);
  void begin_tunnel(const http::ResponseHead& head, std::size_t bytes);
  bool read_response_body();
  void on_upstream_read(std::error_code ec);
  void on_upstream_end(std::error_code ec);

  // connection_end.cc
  void finish_response();
  void finish_tunnel();
  bool retry_after_silence();
  void host_failed(telemetry::HostFailure failure);
  void release_upstream();
  void refuse(int status, std::string_view sentence, telemetry::PlacerRefusal reason);
  void begin_refusal(int status, std::string_view sentence);
  void flush_refusal();
  bool can_answer() const noexcept;
  void refuse_body(int status, std::string_view sentence, telemetry::PlacerRefusal reason);
  void fail_exchange(int status, const std::string& sentence, telemetry::HostFailure failure,
                     telemetry::PlacerRefusal reason);
  void client_gone(telemetry::PlacerRefusal reason);
  void linger();
  void account(int status, Verdict verdict);
  void log_line(int status, std::string_view host);
  std::string host_name() const;

  // connection_timeouts.cc
  void check_exchange(Clock::time_point now);

  const http::HeadLimits& request_limits() const noexcept;
  const config::PlacerOptions& options() const noexcept { return view_->snapshot->options(); }

  Worker& worker_;
  const std::uint64_t id_;
  const Origin origin_;
  Channel client_;
  ViewPtr view_;  // what was known when the current request came
  Phase phase_ = Phase::Head;

  // The current request.
  http::Method method_ = http::Method::Other;
  int minor_version_ = 1;
  bool keep_alive_ = true;  // the client's wish, and ours
  bool has_body_ = false;
  std::string request_line_;  // method and target, for the log
  std::size_t path_size_ = 0;
  std::size_t method_size_ = 0;
  RequestIds ids_;
  std::string upgrade_;  // the protocol asked for
  std::size_t route_ = 0;
  Place place_;
  bool placed_ = false;  // place_ holds, and counts as in flight
  std::uint64_t tried_ = 0;
  std::uint32_t attempts_ = 0;
  Upstream* upstream_ = nullptr;
  bool reused_ = false;      // upstream_ has served others before
  bool fresh_only_ = false;  // a kept connection has just failed this request

  Progress upload_ = Progress::Read;
  http::Framing upload_framing_ = http::Framing::None;
  std::uint64_t upload_left_ = 0;
  std::uint64_t upload_bytes_ = 0;  // of the body
  std::uint64_t sent_bytes_ = 0;    // to this upstream
  Outgoing to_host_;

  Progress download_ = Progress::Head;
  http::Framing download_framing_ = http::Framing::None;
  BodyOut body_out_ = BodyOut::None;
  std::uint64_t download_left_ = 0;
  std::uint64_t download_bytes_ = 0;  // of the body
  std::uint64_t answered_bytes_ = 0;  // to the client, head included
  bool response_begun_ = false;       // any byte of the response came
  bool host_keep_alive_ = false;
  int status_ = 0;
  Outgoing to_client_;
  std::unique_ptr<http::ChunkDecoder> upload_decoder_, download_decoder_;

  std::size_t searched_ = 0;  // of the head that is awaited
  std::size_t response_searched_ = 0;
  std::uint64_t requests_ = 0;
  bool head_begun_ = false;    // a byte of the next head came
  bool client_ended_ = false;  // it sends no more
  Drain draining_ = Drain::No;
  bool next_wanted_ = false;
  std::uint64_t lingered_bytes_ = 0;
  Clock::time_point deadline_{};       // of Head, Refusing and Linger
  Clock::time_point last_progress_{};  // of Exchange and Tunnel
  Clock::time_point request_at_{};     // its first byte
  Clock::time_point attempt_at_{};
};

}  // namespace sluice::placer
