#include <filesystem>
#include <iterator>
#include <thread>

#include <asio/post.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/error.h"
#include "net/deadline.h"
#include "net/net_error.h"
#include "net/prefix_peek.h"
#include "tests/net/net_test_support.h"
#include "tests/net/test_pki.h"

namespace sluice::net {
namespace {

using test::pattern;
using test::TestPki;

class TlsStream : public testing::Test {
 protected:
  void connect() {
    ends.emplace(test::unix_pair(io.get_executor()));
    ASSERT_TRUE(test::shake_hands(io, ends->first, ends->second, pki.client(), pki.server()));
    ASSERT_FALSE(ends->first.has_pending_or_eof());
  }
  Stream& client() { return ends->first; }
  Stream& server() { return ends->second; }

  asio::io_context io{1};
  TestPki pki;
  std::optional<std::pair<Stream, Stream>> ends;
};

// Hands on what comes, one byte at a time, letting everybody else run in between.
asio::awaitable<void> trickle(Stream& from, Stream& to) {
  Bytes buffer(4096);
  while (true) {
    const Result<std::size_t> count = co_await from.read_some(buffer);
    if (!count) break;
    for (std::size_t i = 0; i < *count; ++i) {
      if (!co_await to.write_all(ByteView(buffer).subspan(i, 1))) co_return;
      co_await asio::post(from.get_executor(), asio::use_awaitable);
    }
  }
  to.shutdown_send();
}

asio::awaitable<void> talk(Stream& stream, std::shared_ptr<const TlsContext> context, TlsRole role,
                           const Bytes& mine, const Bytes& theirs) {
  EXPECT_TRUE(co_await stream.handshake(std::move(context), role, "db.example"));
  EXPECT_TRUE(co_await stream.write_all(mine));
  Bytes received(theirs.size());
  EXPECT_TRUE(co_await stream.read_exactly(received));
  EXPECT_TRUE(received == theirs);
  stream.shutdown_send();
}

TEST_F(TlsStream, WorksWhenEveryByteComesAlone) {
  auto left = test::unix_pair(io.get_executor());
  auto right = test::unix_pair(io.get_executor());
  const Bytes a = pattern(3000, 1);
  const Bytes b = pattern(9000, 2);
  test::run(io, talk(left.first, pki.client(), TlsRole::Client, a, b),
            talk(right.second, pki.server(), TlsRole::Server, b, a), trickle(left.second, right.first),
            trickle(right.first, left.second));
}

TEST_F(TlsStream, SendsNoRecordAboveEightKilobytes) {  // B13
  connect();
  ASSERT_EQ(client().try_write(pattern(40'000)).bytes, 40'000u);
  Bytes wire(60'000);
  const ssize_t size = ::recv(server().socket().native_handle(), wire.data(), wire.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 40'000);
  ByteReader reader(ByteView(wire).first(static_cast<std::size_t>(size)));
  int records = 0;
  for (; reader.remaining() > 0; ++records) {
    ASSERT_EQ(reader.u8(), 0x17);
    ASSERT_EQ(reader.u16(), 0x0303);
    const std::size_t length = *reader.u16();
    EXPECT_LE(length, kTlsRecordBytesMax + 17);
    ASSERT_TRUE(reader.take(length));
  }
  EXPECT_EQ(records, 5);
}

TEST_F(TlsStream, TellsATruncatedEndFromACloseNotify) {  // B14
  connect();
  Bytes buffer(16);
  ::shutdown(client().socket().native_handle(), SHUT_RDWR);
  EXPECT_EQ(server().try_read(buffer).status, IoStatus::Eof);
  EXPECT_TRUE(server().truncated());
  EXPECT_TRUE(server().has_pending_or_eof());
  EXPECT_EQ(server().try_read(buffer).status, IoStatus::Eof);
  connect();
  client().close();
  EXPECT_EQ(server().try_read(buffer).status, IoStatus::Eof);
  EXPECT_FALSE(server().truncated());
}

TEST_F(TlsStream, GivesTheDataInFrontOfAnEnd) {
  connect();
  Bytes buffer(16);
  client().try_write(as_bytes("last words"));
  client().close();
  EXPECT_EQ(server().try_read(buffer).bytes, 10u);
  EXPECT_EQ(server().try_read(buffer).status, IoStatus::Eof);
}

TEST_F(TlsStream, FailsOnATamperedRecordAndOnTheAlertItCauses) {  // B14
  connect();
  Bytes record;
  ByteWriter(record).u8(0x17);
  ByteWriter(record).u16(0x0303);
  ByteWriter(record).u16(64);
  append(record, pattern(64));
  test::raw_send(client(), record);
  Bytes buffer(16);
  const IoOutcome tampered = server().try_read(buffer);
  ASSERT_EQ(tampered.status, IoStatus::Failed);
  EXPECT_EQ(tampered.error.message(), "decryption failed or bad record mac");
  EXPECT_EQ(server().try_write(as_bytes("x")).status, IoStatus::Failed);
  const IoOutcome alerted = client().try_read(buffer);
  ASSERT_EQ(alerted.status, IoStatus::Failed);
  EXPECT_EQ(alerted.error.message(), "sslv3 alert bad record mac");
  EXPECT_TRUE(is_tls_error(alerted.error));
  EXPECT_EQ(client().try_read(buffer).error, alerted.error);
}

TEST_F(TlsStream, AnswersAKeyUpdateWhileItsOwnDirectionIsBlocked) {
  connect();
  Bytes sent;
  const Bytes piece = pattern(8192);
  IoOutcome outcome = IoOutcome::ok(0);
  while ((outcome = server().try_write(piece)).status == IoStatus::Ok)
    append(sent, ByteView(piece).first(outcome.bytes));
  ASSERT_EQ(SSL_key_update(client().tls()->native(), SSL_KEY_UPDATE_REQUESTED), 1);
  ASSERT_EQ(client().try_write(as_bytes("hello")).bytes, 5u);
  std::size_t heard = 0;
  Bytes buffer(16);
  server().async_read_some(buffer, [&](std::error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    heard = n;
  });
  // The blocked record, whose retry must begin with the same bytes, and then some under the new keys.
  append(sent, piece);
  Bytes received(sent.size());
  test::run(
      io,
      [](Stream& s, const Bytes& b) -> asio::awaitable<void> { EXPECT_TRUE(co_await s.write_all(b)); }(
                                        server(), piece),
      [](Stream& s, Bytes& b) -> asio::awaitable<void> { EXPECT_TRUE(co_await s.read_exactly(b)); }(
                                  client(), received));
  io.restart();
  while (heard == 0 && io.run_one() > 0) {
  }
  EXPECT_EQ(heard, 5u);
  EXPECT_TRUE(received == sent);
}

TEST_F(TlsStream, CompletesACancelledReadThatHasHalfARecord) {
  connect();
  ASSERT_EQ(server().try_write(pattern(1000)).bytes, 1000u);
  Bytes wire(2000);
  const ssize_t size = ::recv(client().socket().native_handle(), wire.data(), wire.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 1000);
  std::error_code end;
  Bytes buffer(2000);
  client().async_read_some(buffer, [&](std::error_code ec, std::size_t) { end = ec; });
  test::raw_send(server(), ByteView(wire).first(500));
  io.restart();
  io.poll();  // woken, and found too little
  EXPECT_FALSE(end);
  test::raw_send(server(), ByteView(wire).subspan(500, 100));
  io.poll_one();
  client().cancel();
  io.run();
  EXPECT_EQ(end, asio::error::operation_aborted);
  test::raw_send(server(), ByteView(wire).subspan(600, static_cast<std::size_t>(size) - 600));
  EXPECT_EQ(client().try_read(buffer).bytes, 1000u) << "cancelling loses nothing";
}

TEST_F(TlsStream, DoesNotSpinOnHalfARecord) {
  connect();
  ASSERT_EQ(server().try_write(pattern(1000)).bytes, 1000u);
  Bytes wire(2000);
  ASSERT_GT(::recv(client().socket().native_handle(), wire.data(), wire.size(), MSG_DONTWAIT), 1000);
  test::raw_send(server(), ByteView(wire).first(500));
  Bytes buffer(2000);
  EXPECT_EQ(client().try_read(buffer).status, IoStatus::WouldBlock);
  bool readable = false;
  client().async_wait_readable([&](std::error_code) { readable = true; });
  io.restart();
  io.poll();
  EXPECT_FALSE(readable);
  EXPECT_TRUE(client().has_pending_or_eof()) << "half a record may be data";
  client().cancel();
  io.run();
}

TEST_F(TlsStream, EndsASilentHandshakeByItsDeadline) {  // B14
  ends.emplace(test::unix_pair(io.get_executor()));
  test::run(io, [](Stream& stream, std::shared_ptr<const TlsContext> context) -> asio::awaitable<void> {
    const Deadline deadline(stream.get_executor(), std::chrono::milliseconds(20), [&] { stream.cancel(); });
    const Result<void> result = co_await stream.handshake(std::move(context), TlsRole::Server, "");
    EXPECT_TRUE(deadline.expired());
    EXPECT_TRUE(!result && result.error().code == BaseErrc::Cancelled);
  }(server(), pki.server()));
}

TEST_F(TlsStream, ReportsAnEndInsideTheHandshake) {
  ends.emplace(test::unix_pair(io.get_executor()));
  test::raw_send(client(), as_bytes("\x16\x03\x01"));
  client().close();
  test::run(io, [](Stream& stream, std::shared_ptr<const TlsContext> context) -> asio::awaitable<void> {
    const Result<void> result = co_await stream.handshake(std::move(context), TlsRole::Server, "");
    EXPECT_TRUE(!result && result.error().code == BaseErrc::Closed);
  }(server(), pki.server()));
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST_F(TlsStream,
       LeavesNothingBehindAfterAbortedHandshakes) {  // B14; what stays allocated, AddressSanitizer reports
  const auto context = pki.server();
  ends.emplace(
      test::unix_pair(io.get_executor()));  // the event loop opens its own descriptors with the first socket
  ends.reset();
  const std::ptrdiff_t before = open_descriptors();
  const Bytes hello = [&] {
    ends.emplace(test::unix_pair(io.get_executor()));
    const auto session =
        *TlsSession::make(pki.client(), TlsRole::Client, "", client().socket().native_handle());
    EXPECT_EQ(session->handshake().status, IoStatus::WouldBlock);
    Bytes wire(4096);
    wire.resize(server().try_read(wire).bytes);
    return wire;
  }();
  for (std::size_t cut = 1; cut <= hello.size(); ++cut) {
    ends.emplace(test::unix_pair(io.get_executor()));
    test::raw_send(client(), ByteView(hello).first(cut));
    client().close();
    test::run(io, [](Stream& stream, std::shared_ptr<const TlsContext> c) -> asio::awaitable<void> {
      const Result<void> result = co_await stream.handshake(std::move(c), TlsRole::Server, "");
      EXPECT_FALSE(result);
    }(server(), context));
  }
  ends.reset();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(TlsStream, MovesToAnotherThreadWithItsSession) {
  connect();
  Bytes buffer(16);
  server().try_write(as_bytes("before"));
  Result<DetachedStream> released = client().release();
  ASSERT_TRUE(released);
  EXPECT_FALSE(client().is_open());
  std::thread([taken = *std::move(released)]() mutable {
    asio::io_context other(1);
    Result<Stream> adopted = Stream::adopt(other.get_executor(), std::move(taken));
    ASSERT_TRUE(adopted);
    EXPECT_EQ(adopted->side(), Side::Server);
    EXPECT_TRUE(adopted->has_pending_or_eof());
    test::run(other, [](Stream& stream) -> asio::awaitable<void> {
      Bytes room(16);
      const Result<std::size_t> count = co_await stream.read_some(room);
      EXPECT_TRUE(count && as_text(ByteView(room).first(*count)) == "before");
      EXPECT_TRUE(co_await stream.write_all(as_bytes("after")));
    }(*adopted));
  }).join();
  EXPECT_EQ(server().try_read(buffer).bytes, 5u);
  EXPECT_EQ(server().try_read(buffer).status, IoStatus::Eof);
  EXPECT_FALSE(server().truncated()) << "the adopted stream was closed properly";
}

TEST_F(TlsStream, ClosesWhatNobodyAdopts) {
  connect();
  { const Result<DetachedStream> dropped = client().release(); }
  Bytes buffer(16);
  EXPECT_EQ(server().try_read(buffer).status, IoStatus::Eof);
}

TEST_F(TlsStream, LeavesAPeekedByteForTheHandshake) {
  ends.emplace(test::unix_pair(io.get_executor()));
  const Bytes words = pattern(10);
  test::run(io, talk(client(), pki.client(), TlsRole::Client, words, words),
            [](Stream& stream, std::shared_ptr<const TlsContext> context,
               const Bytes& both) -> asio::awaitable<void> {
              const Result<std::byte> first = co_await peek_first_byte(stream);
              EXPECT_TRUE(first && *first == kTlsHandshakeRecord);
              co_await talk(stream, std::move(context), TlsRole::DirectServer, both, both);
            }(server(), pki.server(), words));
}

TEST_F(TlsStream, ReportsAnEndBeforeTheFirstByte) {
  ends.emplace(test::unix_pair(io.get_executor()));
  client().close();
  test::run(io, [](Stream& stream) -> asio::awaitable<void> {
    const Result<std::byte> first = co_await peek_first_byte(stream);
    EXPECT_TRUE(!first && first.error().code == BaseErrc::Closed);
  }(server()));
}

}  // namespace
}  // namespace sluice::net
