#include "tests/router/relay_fixture.h"

#include <string>
#include <vector>

#include "protocol/backend_messages.h"
#include "protocol/error_response.h"
#include "protocol/frontend_messages.h"
#include "tests/net/net_test_support.h"
#include "tests/net/test_pki.h"

namespace sluice::router::test {

namespace {

asio::awaitable<void> keep(asio::awaitable<Bytes> task, Bytes& result) {
  result = co_await std::move(task);
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::Plain:
      return "Plain";
    case Kind::Ring:
      return "Ring";
    case Kind::RingLater:
      return "RingLater";
    case Kind::Tls:
      return "Tls";
  }
  return "";
}

void RelayOf::SetUp() {
  client_ends.emplace(net::test::tcp_pair(io.get_executor()));
  server_ends.emplace(net::test::tcp_pair(io.get_executor()));
  if (GetParam() == Kind::Ring || GetParam() == Kind::RingLater) {
    std::error_code why;
    ring = net::Ring::open(io, pool, why);
    if (!ring) GTEST_SKIP() << "no io_uring here: " << why.message();
    ring_buffers = net::Ring::kBuffers;
  }
  if (GetParam() == Kind::Tls) {
    const net::test::TestPki pki;
    for (auto* ends : {&client_ends, &server_ends})
      ASSERT_TRUE(net::test::shake_hands(io, (*ends)->first, (*ends)->second, pki.client(), pki.server()));
  }
}

void RelayOf::TearDown() {
  if (relay && !ended) {
    relay->stop();
    end();
  }
  EXPECT_EQ(held(), 0U);
}

void RelayOf::start(ByteView first) {
  const RelayRing use{ring.get(), GetParam() == Kind::RingLater ? 3U : 0U};
  relay.emplace(client_ends->second, server_ends->first, tracker, pool, meter, use);
  relay->start(first, [this](RelayEnd how) {
    EXPECT_FALSE(ended) << "told twice";
    ended = how;
    EXPECT_EQ(held(), 0U);
    unsent = relay->take_unsent();
    relay.reset();  // its memory is gone from here on
    client_ends->second.close();
    server_ends->first.close();
  });
  EXPECT_FALSE(ended) << "told from within start()";
}

RelayEnd RelayOf::end() {
  net::test::run_until(io, [this] { return ended.has_value(); });
  if (!ended) {
    ADD_FAILURE() << "the relay does not end";
    std::abort();
  }
  return *ended;
}

void RelayOf::settle() {
  io.restart();
  // What the ring brings is handled in a poll and not counted by it.
  for (int quiet = 0; quiet < 3;)
    quiet = io.poll() > 0 ? 0 : quiet + 1;
}

asio::awaitable<void> RelayOf::send(net::Stream& stream, Bytes bytes) {
  const Result<void> sent = co_await stream.write_all(bytes);
  EXPECT_TRUE(sent);
}

asio::awaitable<Bytes> RelayOf::receive(net::Stream& stream, std::size_t count) {
  Bytes bytes(count);
  const Result<void> got = co_await stream.read_exactly(bytes);
  EXPECT_TRUE(got) << "the stream ended early";
  co_return bytes;
}

asio::awaitable<Bytes> RelayOf::receive_all(net::Stream& stream) {
  Bytes all;
  Bytes piece(16 * 1024);
  for (;;) {
    const Result<std::size_t> count = co_await stream.read_some(piece);
    if (!count) co_return all;
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

void RelayOf::send_now(net::Stream& stream, Bytes bytes) {
  net::test::run(io, send(stream, std::move(bytes)));
}

Bytes RelayOf::receive_now(net::Stream& stream, std::size_t count) {
  Bytes result;
  net::test::run(io, keep(receive(stream, count), result));
  return result;
}

Bytes RelayOf::receive_all_now(net::Stream& stream) {
  Bytes result;
  net::test::run(io, keep(receive_all(stream), result));
  return result;
}

Bytes RelayOf::fill(net::Stream& stream, ByteView message) {
  Bytes written;
  for (int quiet = 0; quiet < 20;) {
    const net::IoOutcome outcome = stream.try_write(message.subspan(written.size() % message.size()));
    if (outcome.status == net::IoStatus::Ok) {
      for (std::size_t i = 0; i < outcome.bytes; ++i)
        written.push_back(message[written.size() % message.size()]);
      quiet = 0;
      continue;
    }
    EXPECT_EQ(outcome.status, net::IoStatus::WouldBlock);
    ++quiet;
    io.restart();
    io.run_for(std::chrono::milliseconds(1));
  }
  return written;
}

Bytes query(std::string_view sql) {
  Bytes out;
  protocol::append_query(out, sql);
  return out;
}

Bytes parse_and_sync() {
  Bytes out;
  protocol::append_parse(out, "", "SELECT 1");
  protocol::append_sync(out);
  return out;
}

Bytes terminate() {
  Bytes out;
  protocol::append_terminate(out);
  return out;
}

Bytes answer(std::string_view tag, char status) {
  Bytes out;
  protocol::append_command_complete(out, tag);
  protocol::append_ready_for_query(out, status);
  return out;
}

Bytes parsed_and_ready() {
  Bytes out;
  protocol::append_message(out, '1', {});
  protocol::append_ready_for_query(out, 'I');
  return out;
}

Bytes data_row(std::size_t size, unsigned seed) {
  Bytes out;
  protocol::append_message(out, 'D', net::test::pattern(size, seed));
  return out;
}

Bytes fatal(std::string_view message) {
  Bytes out;
  protocol::append_error_response(out, {"FATAL", "57P01", std::string(message), "", ""});
  return out;
}

Bytes joined(Bytes a, ByteView b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace sluice::router::test
