// The response on its way to the client.

#include <asio/error.hpp>

#include "placer/connection.h"
#include "placer/worker.h"

namespace sluice::placer {

using http::Framing;
using telemetry::HostFailure;
using telemetry::PlacerRefusal;

void Connection::pump_download() {
  while (phase_ == Phase::Exchange || phase_ == Phase::Tunnel) {
    const std::uint64_t before = answered_bytes_;
    const Flush flushed = flush(to_client_, client_, answered_bytes_);
    if (answered_bytes_ != before && download_ != Progress::Head) last_progress_ = Clock::now();
    if (flushed == Flush::Failed) return client_gone(PlacerRefusal::ClientLeft);
    if (flushed == Flush::Blocked) return client_.wait_writable();
    to_client_.clear();
    if (download_ == Progress::Read) {
      if (phase_ == Phase::Exchange) return finish_response();
      client_.stream().shutdown_send();
      download_ = Progress::Broken;
      return finish_tunnel();
    }
    if (download_ == Progress::Broken || !read_download()) return;
    if (to_client_.empty() && (download_ == Progress::Head || download_ == Progress::Body)) {
      if (phase_ == Phase::Exchange || phase_ == Phase::Tunnel) upstream_->channel().read();
      return;
    }
  }
}

// Takes what the host has sent into to_client_. False: the exchange is over.
bool Connection::read_download() {
  if (download_ == Progress::Head) return take_response_head();
  return read_response_body();
}

// Heads until one that is final; informational ones are passed on.
bool Connection::take_response_head() {
  Channel& channel = upstream_->channel();
  while (download_ == Progress::Head) {
    const std::string_view text = channel.unread_text();
    if (text.empty()) return true;
    response_begun_ = true;
    const http::HeadEnd end = http::find_head_end(text, response_searched_);
    const http::HeadLimits& limits = view_->snapshot->response_limits;
    const bool too_large =
        end.result == http::HeadSearch::NeedMore && (text.size() > limits.bytes || channel.full());
    if (end.result == http::HeadSearch::BareLineFeed || too_large) {
      fail_exchange(
          502, "The compute host " + host_name() + " answered with a head that is malformed or too large.",
          HostFailure::Malformed, PlacerRefusal::HostFailed);
      return false;
    }
    if (end.result == http::HeadSearch::NeedMore) return true;
    http::ResponseHead& head = worker_.response_head();
    if (const http::Refusal refusal = http::parse_response(text.substr(0, end.bytes), limits, head)) {
      fail_exchange(502, std::string(refusal.sentence) + " (" + host_name() + ")", HostFailure::Malformed,
                    PlacerRefusal::HostFailed);
      return false;
    }
    response_searched_ = 0;
    if (!begin_response(head, end.bytes)) return false;
  }
  return true;
}

bool Connection::begin_response(const http::ResponseHead& head, std::size_t bytes) {
  Channel& channel = upstream_->channel();
  const ForwardPolicy& forward = view_->snapshot->forward;
  if (head.status == 101) {
    if (upgrade_.empty() || head.upgrade.empty()) {
      fail_exchange(502, "The compute host " + host_name() + " switched protocols without being asked to.",
                    HostFailure::Malformed, PlacerRefusal::HostFailed);
      return false;
    }
    begin_tunnel(head, bytes);
    return true;
  }
  ResponseFacts facts;
  facts.client_minor_version = minor_version_;
  if (head.status / 100 == 1) {
    // HTTP/1.0 has none of them.
    if (minor_version_ == 1) append_response_head(to_client_.head, head, forward, facts);
    channel.take(bytes);
    return true;
  }
  status_ = head.status;
  download_framing_ = http::body_framing(head, method_);
  download_left_ = download_framing_ == Framing::Length ? head.content_length : 0;
  download_bytes_ = 0;
  host_keep_alive_ = head.keep_alive && download_framing_ != Framing::UntilClose;
  // A request whose end has not come yet: what is left of it must not be taken for the next one.
  if (upload_ != Progress::Read || draining_ != Drain::No) keep_alive_ = false;
  switch (download_framing_) {
    case Framing::None:
      body_out_ = BodyOut::None;
      break;
    case Framing::Length:
      body_out_ = BodyOut::Length;
      break;
    case Framing::Chunked:
    case Framing::UntilClose:
      body_out_ = minor_version_ == 1 ? BodyOut::Chunked : BodyOut::Raw;
      break;
  }
  if (body_out_ == BodyOut::Raw) keep_alive_ = false;
  facts.body = body_out_;
  facts.keep_alive = keep_alive_;
  facts.host_name = view_->snapshot->hosts[place_.host]->name;
  append_response_head(to_client_.head, head, forward, facts);
  channel.take(bytes);
  last_progress_ = Clock::now();
  const bool empty =
      download_framing_ == Framing::None || (download_framing_ == Framing::Length && download_left_ == 0);
  download_ = empty ? Progress::Read : Progress::Body;
  if (download_framing_ == Framing::Chunked) {
    if (download_decoder_ == nullptr) download_decoder_ = std::make_unique<http::ChunkDecoder>();
    download_decoder_->reset();
  }
  if (download_ == Progress::Body && !channel.empty()) {
    if (!read_response_body()) return false;
    to_client_.join_head(channel);
  }
  return true;
}

// From here on both directions are bytes until their end.
void Connection::begin_tunnel(const http::ResponseHead& head, std::size_t bytes) {
  ResponseFacts facts;
  append_response_head(to_client_.head, head, view_->snapshot->forward, facts);
  upstream_->channel().take(bytes);
  status_ = head.status;
  phase_ = Phase::Tunnel;
  keep_alive_ = false;
  to_host_.clear();
  upload_ = Progress::Body;
  upload_framing_ = Framing::UntilClose;
  download_ = Progress::Body;
  download_framing_ = Framing::UntilClose;
  body_out_ = BodyOut::Raw;
  last_progress_ = Clock::now();
  pump_upload();
}

// False: the response is broken, and the exchange over.
bool Connection::read_response_body() {
  Channel& channel = upstream_->channel();
  const std::size_t unread = channel.unread_text().size();
  if (unread == 0) return true;
  switch (download_framing_) {
    case Framing::None:
      download_ = Progress::Read;
      break;
    case Framing::Length:
      relay_plain(channel, download_left_, to_client_);
      if (download_left_ == 0) download_ = Progress::Read;
      break;
    case Framing::UntilClose:
      if (body_out_ == BodyOut::Chunked) {
        relay_as_chunk(channel, to_client_);
      } else {
        std::uint64_t all = ~std::uint64_t{0};
        relay_plain(channel, all, to_client_);
      }
      break;
    case Framing::Chunked: {
      using State = http::ChunkDecoder::State;
      const Recode recode = body_out_ == BodyOut::Chunked ? Recode::Chunked : Recode::Raw;
      const State state =
          relay_chunked(channel, *download_decoder_, recode, worker_.pieces(), download_bytes_, to_client_);
      const bool stuck = state == State::More && channel.full() && to_client_.empty();
      if (state == State::Broken || stuck) {
        fail_exchange(502, "The compute host " + host_name() + " answered with malformed chunks.",
                      HostFailure::Malformed, PlacerRefusal::HostFailed);
        return false;
      }
      if (state == State::Done) download_ = Progress::Read;
      break;
    }
  }
  if (channel.unread_text().size() != unread) last_progress_ = Clock::now();
  return true;
}

void Connection::on_upstream_read(std::error_code ec) {
  if (phase_ != Phase::Exchange && phase_ != Phase::Tunnel) return;
  if (ec) return on_upstream_end(ec);
  pump_download();
}

// The host ended the connection, well or not.
void Connection::on_upstream_end(std::error_code ec) {
  const bool ended = ec == asio::error::eof;
  if (phase_ == Phase::Tunnel) {
    if (!ended) {
      client_.abort();
      account(status_, Verdict::Answered);
      return close_all();
    }
    download_ = Progress::Read;
    return pump_download();
  }
  switch (download_) {
    case Progress::Head:
      if (!response_begun_ && retry_after_silence()) return;
      return fail_exchange(502,
                           "The compute host " + host_name() +
                               (response_begun_ ? " ended the connection in the middle of its answer."
                                                : " ended the connection without an answer."),
                           HostFailure::NoAnswer, PlacerRefusal::HostFailed);
    case Progress::Body:
      if (download_framing_ == Framing::UntilClose && ended && !upstream_->channel().stream().truncated()) {
        if (body_out_ == BodyOut::Chunked) to_client_.tail = "0\r\n\r\n";
        download_ = Progress::Read;
        return pump_download();
      }
      return fail_exchange(502, "The compute host " + host_name() + " broke off in the middle of its answer.",
                           HostFailure::Truncated, PlacerRefusal::HostFailed);
    case Progress::Read:
    case Progress::Broken:
      return;
  }
}

}  // namespace sluice::placer
