// The request on its way to the compute host.

#include <asio/error.hpp>

#include "placer/connection.h"
#include "placer/worker.h"

namespace sluice::placer {

using http::Framing;
using telemetry::PlacerRefusal;

// With the head ready in to_host_, and at a further attempt whatever else was taken of the request: only
// requests of which nothing went out, or nothing but a head, come here again.
void Connection::begin_upload() {
  download_ = Progress::Head;
  response_searched_ = 0;
  to_client_.clear();
  to_host_.head_sent = 0;
  last_progress_ = Clock::now();
  // What came with the head goes out with it.
  if (upload_ == Progress::Body && to_host_.data.empty() && !client_.empty()) {
    if (!read_upload()) return;
    to_host_.join_head(client_);
  }
  pump_upload();
  if (phase_ == Phase::Exchange) upstream_->channel().read();
}

void Connection::pump_upload() {
  while (phase_ == Phase::Exchange || phase_ == Phase::Tunnel) {
    if (upload_ == Progress::Broken) return;
    const std::uint64_t before = sent_bytes_;
    const Flush flushed = flush(to_host_, upstream_->channel(), sent_bytes_);
    if (sent_bytes_ != before) last_progress_ = Clock::now();
    if (flushed == Flush::Failed) return upload_broken();
    if (flushed == Flush::Blocked) return upstream_->channel().wait_writable();
    if (upload_ == Progress::Read) {
      if (phase_ == Phase::Tunnel) {
        upstream_->channel().stream().shutdown_send();
        upload_ = Progress::Broken;
        return finish_tunnel();
      }
      // Tells when the client leaves, and takes in the next request; not behind what came of that already:
      // the body that begins there is relayed in this buffer, in which no read may be pending.
      if (!client_ended_ && client_.empty()) client_.read();
      return;
    }
    if (has_body_) to_host_.clear();
    if (client_.empty()) {
      if (!client_ended_) return client_.read();
      // The end of a tunnel's direction; a body whose framing promises more is cut off.
      if (phase_ != Phase::Tunnel)
        return refuse_body(400, "The body of the request broke off.", PlacerRefusal::ClientLeft);
      upload_ = Progress::Read;
      continue;
    }
    const std::size_t unread = client_.unread_text().size();
    if (!read_upload()) return;
    // A chunk's line that has not come whole yet gives nothing.
    if (to_host_.empty() && upload_ == Progress::Body && client_.unread_text().size() == unread) {
      if (client_ended_) return client_gone(PlacerRefusal::ClientLeft);
      return client_.read();
    }
  }
}

// Takes what the client has sent of the body into to_host_. False: the request was refused.
bool Connection::read_upload() {
  switch (upload_framing_) {
    case Framing::None:
      upload_ = Progress::Read;
      break;
    case Framing::Length: {
      const std::uint64_t before = upload_left_;
      relay_plain(client_, upload_left_, to_host_);
      upload_bytes_ += before - upload_left_;
      if (upload_left_ == 0) upload_ = Progress::Read;
      break;
    }
    case Framing::UntilClose: {
      std::uint64_t all = ~std::uint64_t{0};
      relay_plain(client_, all, to_host_);
      break;
    }
    case Framing::Chunked: {
      const auto state = relay_chunked(client_, *upload_decoder_, Recode::Chunked, worker_.pieces(),
                                       upload_bytes_, to_host_);
      if (state == http::ChunkDecoder::State::Broken) {
        refuse_body(400, "The body's chunks are malformed.", PlacerRefusal::Malformed);
        return false;
      }
      const std::uint64_t body_max = options().max_request_body;
      if (body_max > 0 && upload_bytes_ > body_max) {
        refuse_body(413, "The body of the request is too large.", PlacerRefusal::TooLarge);
        return false;
      }
      if (state == http::ChunkDecoder::State::Done) upload_ = Progress::Read;
      break;
    }
  }
  return true;
}

// The host takes no more. It may have answered before: what it says, or that it says nothing, decides.
void Connection::upload_broken() {
  if (phase_ == Phase::Tunnel) {
    client_.abort();
    account(status_, Verdict::Answered);
    return close_all();
  }
  if (upload_ == Progress::Body) keep_alive_ = false;
  // A request without a body is still whole, and may be sent again.
  if (has_body_ && sent_bytes_ > 0) upload_ = Progress::Broken;
  // Not while what it gave waits for the client in its buffer: pump_download() reads on behind that.
  if (to_client_.empty()) upstream_->channel().read();
}

void Connection::on_client_read(std::error_code ec) {
  const bool ended = ec == asio::error::eof;
  switch (phase_) {
    case Phase::Head:
      if (ended) {
        client_ended_ = true;
      } else if (ec) {
        return close_all();
      }
      return next_request();
    case Phase::Connecting:
    case Phase::Exchange:
      if (ended) client_ended_ = true;
      if (ec && (!ended || upload_ == Progress::Body)) return client_gone(PlacerRefusal::ClientLeft);
      if (phase_ == Phase::Exchange && upload_ == Progress::Body) return pump_upload();
      return;  // the next request, or a part of it: read on when its turn comes
    case Phase::Tunnel:
      if (ec && !ended) return client_gone(PlacerRefusal::ClientLeft);
      if (ended) client_ended_ = true;
      return pump_upload();
    case Phase::Refusing:
      if (ec && !ended) return close_all();
      client_.take(client_.unread().size());
      if (!ended) client_.read();
      return;
    case Phase::Linger:
      if (ec) return close_all();
      lingered_bytes_ += client_.unread().size();
      client_.take(client_.unread().size());
      if (lingered_bytes_ > Worker::kLingerBytesMax) return close_all();
      return client_.read();
    case Phase::Closed:
      return;
  }
}

}  // namespace sluice::placer
