#include "mirror/fetch.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <asio/this_coro.hpp>

#include "base/error.h"
#include "net/connect.h"
#include "net/deadline.h"

namespace sluice::mirror {

using State = ResponseReader::State;

State ResponseReader::fail(std::string problem) {
  problem_ = std::move(problem);
  return State::Failed;
}

State ResponseReader::feed(std::string_view bytes) {
  if (in_body_) return take_body(bytes);
  input_.append(bytes);
  return take_head();
}

State ResponseReader::take_head() {
  const http::HeadLimits limits;
  for (;;) {
    const http::HeadEnd end = http::find_head_end(input_, searched_);
    if (end.result == http::HeadSearch::BareLineFeed) return fail("the answer is no HTTP");
    const std::size_t head_bytes = end.result == http::HeadSearch::Found ? end.bytes : input_.size();
    if (head_bytes > limits.bytes) return fail("the answer's head is too long");
    if (end.result == http::HeadSearch::NeedMore) return State::More;
    http::ResponseHead head;
    const auto refusal = http::parse_response(std::string_view(input_).substr(0, end.bytes), limits, head);
    if (refusal) return fail(std::string("the answer is no HTTP: ") + refusal.sentence);
    status_ = head.status;
    framing_ = http::body_framing(head, http::Method::Get);
    left_ = head.content_length;
    std::string rest = input_.substr(end.bytes);
    input_.clear();
    searched_ = 0;
    if (status_ == 101) return fail("the answer changes the protocol");
    if (status_ >= 200) {
      in_body_ = true;
      if (framing_ == http::Framing::Length && left_ > body_bytes_max_) return fail("the answer is too long");
      return take_body(rest);
    }
    input_ = std::move(rest);  // behind an interim answer
  }
}

bool ResponseReader::append(std::string_view data) {
  if (data.size() > body_bytes_max_ - body_.size()) return false;
  body_.append(data);
  return true;
}

State ResponseReader::take_body(std::string_view bytes) {
  switch (framing_) {
    case http::Framing::None:
      return State::Done;
    case http::Framing::Length: {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      body_.append(bytes.substr(0, count));
      left_ -= count;
      return left_ == 0 ? State::Done : State::More;
    }
    case http::Framing::Chunked:
      return take_chunks(bytes);
    case http::Framing::UntilClose:
      return append(bytes) ? State::More : fail("the answer is too long");
  }
  return State::More;
}

State ResponseReader::take_chunks(std::string_view bytes) {
  input_.append(bytes);
  std::size_t taken = 0;
  std::vector<std::string_view> pieces;
  const auto state = chunks_.feed(input_, taken, pieces);
  for (const std::string_view piece : pieces)
    if (!append(piece)) return fail("the answer is too long");
  input_.erase(0, taken);
  if (state == http::ChunkDecoder::State::Broken) return fail("the answer's chunks are broken");
  return state == http::ChunkDecoder::State::Done ? State::Done : State::More;
}

State ResponseReader::end() {
  if (in_body_ && framing_ == http::Framing::UntilClose) return State::Done;
  return fail("the connection ended before the answer did");
}

std::string request_for(const Source& source) {
  std::string request = "GET " + source.path + " HTTP/1.1\r\nHost: " + source.authority() + "\r\n";
  if (!source.authorization.empty()) request += "Authorization: " + source.authorization + "\r\n";
  return request + "Accept: application/json\r\nUser-Agent: sluice\r\nConnection: close\r\n\r\n";
}

asio::awaitable<std::variant<Body, Problem>> fetch(Source source, FetchLimits limits,
                                                   std::shared_ptr<const net::TlsContext> tls) {
  const auto began = std::chrono::steady_clock::now();
  net::ConnectTarget target{source.host, source.port};
  const net::SocketOptions options;
  auto connected = co_await net::connect(std::move(target), limits.timeout, options);
  if (!connected) co_return Problem{"cannot connect: " + connected.error().code.message()};
  net::Stream stream = *std::move(connected);
  const auto executor = co_await asio::this_coro::executor;
  const net::Deadline deadline(executor, limits.timeout - (std::chrono::steady_clock::now() - began),
                               [&stream] { stream.close(); });
  const auto failed = [&](const std::error_code& code) {
    return Problem{deadline.expired() ? "no whole answer in time" : code.message()};
  };
  if (source.secure) {
    if (tls == nullptr) co_return Problem{"TLS is not set up"};
    std::string name = source.host;
    const auto shaken = co_await stream.handshake(std::move(tls), net::TlsRole::Client, std::move(name));
    if (!shaken) co_return failed(shaken.error().code);
  }
  const std::string request = request_for(source);
  const auto written = co_await stream.write_all(as_bytes(request));
  if (!written) co_return failed(written.error().code);
  ResponseReader reader(limits.body_bytes_max);
  State state = State::More;
  std::array<std::byte, 16 * 1024> room;
  while (state == State::More) {
    const auto read = co_await stream.read_some(room);
    if (deadline.expired()) co_return Problem{"no whole answer in time"};
    if (read && *read > 0) {
      state = reader.feed(as_text(ByteView(room).first(*read)));
    } else if (read || read.error().code == BaseErrc::Closed) {
      state = reader.end();
    } else {
      co_return failed(read.error().code);
    }
  }
  if (state == State::Failed) co_return Problem{reader.problem()};
  if (reader.status() != 200)
    co_return Problem{"the answer has status " + std::to_string(reader.status()) + ", not 200"};
  co_return Body{std::move(reader.body())};
}

}  // namespace sluice::mirror
