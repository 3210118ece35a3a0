#include "calibrate/http_client.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include <asio/this_coro.hpp>

#include "base/error.h"
#include "calibrate/failure.h"
#include "net/connect.h"
#include "net/deadline.h"
#include "net/resolve.h"

namespace sluice::calibrate {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr http::HeadLimits kLimits{.bytes = 64 * 1024, .fields = 200};

// A trace of its own for each request, as the placer would give it, so that the router's observation sees
// whole requests. The process's start makes two calibrations differ.
std::string traceparent(std::uint64_t number) {
  static const auto start =
      static_cast<unsigned long long>(std::chrono::system_clock::now().time_since_epoch().count());
  char text[80];
  std::snprintf(text, sizeof text, "00-%016llx%016llx-%016llx-01", start,
                static_cast<unsigned long long>(number), static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

HttpClient::HttpClient(std::string name, std::string address, std::uint16_t port,
                       std::chrono::milliseconds timeout)
    : name_(std::move(name)), address_(std::move(address)), port_(port), timeout_(timeout) {}

void HttpClient::fail(std::string_view what, const std::string& path) const {
  throw Failure(name_ + " (" + address_ + ":" + std::to_string(port_) + ")" +
                (path.empty() ? "" : ", GET " + path) + ": " + std::string(what));
}

asio::awaitable<void> HttpClient::resolve() {
  const auto found = co_await net::resolve(address_, port_, timeout_);
  if (!found) fail("its address cannot be looked up: " + found.error().code.message(), "");
  endpoint_ = found->front();
}

asio::awaitable<net::Stream> HttpClient::open() {
  if (!endpoint_) co_await resolve();
  net::ConnectTarget target{endpoint_->address().to_string(), port_};
  const net::SocketOptions options;
  auto stream = co_await net::connect(std::move(target), timeout_, options);
  if (!stream) fail("no connection: " + stream.error().code.message(), path_);
  co_return std::move(*stream);
}

asio::awaitable<Clock::duration> HttpClient::connect_once() {
  path_.clear();
  if (!endpoint_) co_await resolve();
  const auto begin = Clock::now();
  net::Stream stream = co_await open();
  const auto taken = Clock::now() - begin;
  stream.close();
  co_return taken;
}

asio::awaitable<Clock::duration> HttpClient::get(std::string path, Connections connections) {
  path_ = std::move(path);
  if (!endpoint_) co_await resolve();
  if (connections == Connections::PerRequest) stream_.reset();
  auto begin = Clock::now();
  const bool fresh = !stream_;
  if (fresh) {
    stream_ = co_await open();
    if (connections == Connections::Kept) begin = Clock::now();
  }
  bool answered = co_await exchange(path_);
  if (!answered && !fresh) {  // a kept connection that the server had closed meanwhile
    stream_ = co_await open();
    begin = Clock::now();
    answered = co_await exchange(path_);
  }
  const auto taken = Clock::now() - begin;
  if (!answered) fail("the connection was closed without an answer", path_);
  if (!head_.keep_alive || connections == Connections::PerRequest) stream_.reset();
  if (head_.status < 200 || head_.status > 299) fail("answered " + std::to_string(head_.status), path_);
  co_return taken;
}

// False when the connection was closed before a byte of the answer.
asio::awaitable<bool> HttpClient::exchange(const std::string& path) {
  net::Deadline deadline(stream_->get_executor(), timeout_, [this] { stream_->close(); });
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: " + address_ +
      "\r\nUser-Agent: sluice-calibrate\r\nAccept: */*\r\ntraceparent: " + traceparent(next_trace_++) +
      "\r\n\r\n";
  input_.clear();
  body_.clear();
  const auto sent = co_await stream_->write_all(as_bytes(request));
  if (deadline.expired()) fail("no answer within the timeout", path);
  if (!sent) {
    stream_.reset();
    co_return false;
  }
  const std::size_t first = co_await read_more();
  if (deadline.expired()) fail("no answer within the timeout", path);
  if (first == 0) {
    stream_.reset();
    co_return false;
  }
  co_await read_head();
  co_await read_body();
  co_return true;
}

asio::awaitable<std::size_t> HttpClient::read_more() {
  std::array<std::byte, kReadBytes> piece;
  const std::span<std::byte> room(piece);
  const auto count = co_await stream_->read_some(room);
  if (!count) co_return 0;
  input_ += as_text(ByteView(piece).first(*count));
  co_return *count;
}

asio::awaitable<void> HttpClient::read_head() {
  for (;;) {
    std::size_t searched = 0;
    const http::HeadEnd end = http::find_head_end(input_, searched);
    if (end.result == http::HeadSearch::BareLineFeed) fail("its answer is not HTTP/1.1", path_);
    if (end.result == http::HeadSearch::Found) {
      head_bytes_ = end.bytes;
      const std::string_view head(input_.data(), end.bytes);
      if (const http::Refusal refusal = http::parse_response(head, kLimits, head_))
        fail(refusal.sentence, path_);
      served_by_.clear();
      for (const http::Field& field : head_.fields)
        if (field.id == http::FieldId::XSluiceHost) served_by_ = field.value;
      if (head_.status >= 200) co_return;
      input_.erase(0, end.bytes);  // 100 Continue and the like
      continue;
    }
    if (input_.size() > kLimits.bytes) fail("its answer's head is too long", path_);
    const std::size_t more = co_await read_more();
    if (more == 0) fail("the answer broke off, or did not end within the timeout", path_);
  }
}

asio::awaitable<void> HttpClient::read_body() {
  const http::Framing framing = http::body_framing(head_, http::Method::Get);
  std::uint64_t left = head_.content_length;
  input_.erase(0, head_bytes_);
  chunks_.reset();
  std::vector<std::string_view> pieces;
  for (;;) {
    if (framing == http::Framing::None) co_return;
    if (framing == http::Framing::Chunked) {
      std::size_t taken = 0;
      const auto state = chunks_.feed(input_, taken, pieces);
      for (const std::string_view piece : pieces)
        keep(piece);
      input_.erase(0, taken);
      if (state == http::ChunkDecoder::State::Broken) fail("its answer's body is broken", path_);
      if (state == http::ChunkDecoder::State::Done) co_return;
    } else {
      keep(input_);
      if (framing == http::Framing::Length) left -= std::min<std::uint64_t>(left, input_.size());
      input_.clear();
      if (framing == http::Framing::Length && left == 0) co_return;
    }
    const std::size_t more = co_await read_more();
    if (more > 0) continue;
    if (framing == http::Framing::UntilClose) co_return;
    fail("the answer broke off, or did not end within the timeout", path_);
  }
}

void HttpClient::keep(std::string_view bytes) {
  body_.append(bytes.substr(0, kBodyKept - body_.size()));
}

}  // namespace sluice::calibrate
