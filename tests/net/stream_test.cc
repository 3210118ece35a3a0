#include "net/stream.h"

#include <algorithm>
#include <array>

#include <asio/bind_allocator.hpp>
#include <asio/steady_timer.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/error.h"
#include "net/deadline.h"
#include "tests/net/net_test_support.h"
#include "tests/net/test_pki.h"

namespace sluice::net {
namespace {

using test::pattern;
using test::TestPki;

enum class Kind { Plain, PlainTcp, Tls, TlsTcp };

// Everything that holds for plain streams and for TLS alike.
class StreamOf : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    const bool tcp = GetParam() == Kind::PlainTcp || GetParam() == Kind::TlsTcp;
    ends.emplace(tcp ? test::tcp_pair(io.get_executor()) : test::unix_pair(io.get_executor()));
    if (is_tls()) {
      const TestPki pki;
      ASSERT_TRUE(test::shake_hands(io, client(), server(), pki.client(), pki.server()));
    }
  }
  bool is_tls() const { return GetParam() == Kind::Tls || GetParam() == Kind::TlsTcp; }
  Stream& client() { return ends->first; }
  Stream& server() { return ends->second; }
  // Writes until the other end, which does not read, is full.
  void fill(Stream& stream) {
    const Bytes bytes = pattern(64 * 1024);
    while (stream.try_write(bytes).status == IoStatus::Ok) {
    }
  }
  // Waits for what is on its way over loopback.
  void settle(Stream& stream) {
    test::run(
        io, [](Stream& s) -> asio::awaitable<void> { co_await s.async_wait_readable(test::kAwait); }(stream));
  }

  asio::io_context io{1};
  std::optional<std::pair<Stream, Stream>> ends;
};

std::string kind_name(const testing::TestParamInfo<Kind>& tested) {
  constexpr std::array<const char*, 4> kNames{"Plain", "PlainTcp", "Tls", "TlsTcp"};
  return kNames[static_cast<std::size_t>(tested.param)];
}

INSTANTIATE_TEST_SUITE_P(All, StreamOf, testing::Values(Kind::Plain, Kind::PlainTcp, Kind::Tls, Kind::TlsTcp),
                         kind_name);

asio::awaitable<void> send_all(Stream& stream, const Bytes& bytes) {
  const Result<void> sent = co_await stream.write_all(bytes);
  EXPECT_TRUE(sent);
  stream.shutdown_send();
}

// Reads to the end with the callback form, as the relay does, and compares with what was sent.
struct Comparer {
  Stream& stream;
  const Bytes& expected;
  std::size_t step;
  Bytes buffer = Bytes(16 * 1024);
  std::size_t at = 0;
  std::error_code end{};
  bool inside = false;

  void next() {
    inside = true;
    stream.async_read_some(std::span(buffer).first(step), [this](std::error_code ec, std::size_t n) {
      EXPECT_FALSE(inside) << "completed inside the call that started it";
      end = ec;
      if (ec) return;
      ASSERT_LE(at + n, expected.size());
      ASSERT_TRUE(std::equal(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n),
                             expected.begin() + static_cast<std::ptrdiff_t>(at)));
      at += n;
      next();
    });
    inside = false;
  }
};

TEST_P(StreamOf, CarriesEverySizeUnchanged) {  // B11
  for (const std::size_t size : {1u, 8191u, 8193u, 15u << 10, 16u << 10, 17u << 10, 33u << 10, 1u << 20}) {
    const Bytes bytes = pattern(size, static_cast<unsigned>(size));
    Bytes received(size);
    test::run(
        io,
        [](Stream& s, const Bytes& b) -> asio::awaitable<void> { EXPECT_TRUE(co_await s.write_all(b)); }(
                                          client(), bytes),
        [](Stream& s, Bytes& b) -> asio::awaitable<void> { EXPECT_TRUE(co_await s.read_exactly(b)); }(
                                    server(), received));
    EXPECT_TRUE(bytes == received) << size;
  }
}

TEST_P(StreamOf, CarriesSixtyFourMegabytesThroughTheCallbackForm) {
  const Bytes bytes = pattern(64u << 20);
  Comparer comparer{server(), bytes, 16 * 1024};
  comparer.next();
  test::run(io, send_all(client(), bytes));
  io.restart();
  while (!comparer.end && io.run_one() > 0) {
  }
  EXPECT_EQ(comparer.at, bytes.size());
  EXPECT_EQ(comparer.end, asio::error::eof);
  EXPECT_FALSE(server().truncated());
}

TEST_P(StreamOf, GivesDecryptedBytesOneByOneWithoutStallOrRecursion) {  // B10
  const Bytes bytes = pattern(40'000);
  Comparer comparer{server(), bytes, 1};
  comparer.next();
  test::run(io, send_all(client(), bytes));
  io.restart();
  while (!comparer.end && io.run_one() > 0) {
  }
  EXPECT_EQ(comparer.at, bytes.size());
}

TEST_P(StreamOf, IsReadableAtOnceWhileItHoldsDecryptedBytes) {  // B10
  EXPECT_EQ(client().try_write(pattern(20'000)).bytes, 20'000u);
  Bytes one(1);
  std::size_t count = 0;
  test::run(io, [](Stream& s, Bytes& b, std::size_t& n) -> asio::awaitable<void> {
    for (; n < 20'000; ++n) {
      const auto [ec] = co_await s.async_wait_readable(test::kAwait);
      EXPECT_FALSE(ec);
      const IoOutcome outcome = s.try_read(b);
      if (outcome.status != IoStatus::Ok) --n;
    }
  }(server(), one, count));
  EXPECT_EQ(count, 20'000u);
  EXPECT_EQ(server().try_read(one).status, IoStatus::WouldBlock);
}

TEST_P(StreamOf, StopsWritingToAReaderThatDoesNotRead) {
  fill(client());
  EXPECT_EQ(client().try_write(pattern(64 * 1024)).status, IoStatus::WouldBlock);
  bool writable = false;
  client().async_wait_writable([&](std::error_code ec) { writable = !ec; });
  Bytes buffer(64 * 1024);
  io.restart();
  while (!writable) {
    server().try_read(buffer);
    io.poll_one();
  }
}

TEST_P(StreamOf, TakesUpAPartialWriteWhereItStopped) {
  // A reader that takes little at a time makes nearly every record end in the middle.
  const int small = 4096;
  ::setsockopt(client().socket().native_handle(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  const Bytes bytes = pattern(1u << 20);
  Comparer comparer{server(), bytes, 777};
  comparer.next();
  test::run(io, send_all(client(), bytes));
  io.restart();
  while (!comparer.end && io.run_one() > 0) {
  }
  EXPECT_EQ(comparer.at, bytes.size());
}

TEST_P(StreamOf, GoesOnInTheOtherDirectionAfterAHalfClose) {
  client().shutdown_send();
  test::run(io, [](Stream& c, Stream& s) -> asio::awaitable<void> {
    Bytes buffer(16);
    const Result<std::size_t> end = co_await s.read_some(buffer);
    EXPECT_FALSE(end);
    if (!end) {
      EXPECT_EQ(end.error().code, BaseErrc::Closed);
      EXPECT_EQ(end.error().side, Side::Client);
    }
    EXPECT_EQ(s.try_read(buffer).status, IoStatus::Eof) << "and stays so";
    EXPECT_TRUE(co_await s.write_all(as_bytes("still here")));
    const Result<std::size_t> answer = co_await c.read_some(buffer);
    EXPECT_TRUE(answer && *answer == 10);
  }(client(), server()));
}

TEST_P(StreamOf, CompletesWhatIsPendingWhenCancelled) {
  fill(client());
  Bytes buffer(16);
  std::vector<std::error_code> ends_seen;
  Bytes all(64 * 1024);
  while (server().try_read(all).status == IoStatus::Ok) {
  }
  fill(client());
  client().async_read_some(buffer, [&](std::error_code ec, std::size_t) { ends_seen.push_back(ec); });
  client().async_wait_readable([&](std::error_code ec) { ends_seen.push_back(ec); });
  client().async_wait_writable([&](std::error_code ec) { ends_seen.push_back(ec); });
  client().cancel();
  io.restart();
  io.run();
  EXPECT_EQ(ends_seen, std::vector<std::error_code>(3, asio::error::operation_aborted));
}

TEST_P(StreamOf, ReportsACancelledCoroutineAsCancelled) {
  test::run(
      io,
      [](Stream& s) -> asio::awaitable<void> {
        Bytes buffer(16);
        const Result<std::size_t> read = co_await s.read_some(buffer);
        EXPECT_TRUE(!read && read.error().code == BaseErrc::Cancelled);
        const Deadline deadline(co_await asio::this_coro::executor, std::chrono::milliseconds(1),
                                [&] { s.cancel(); });
        const Result<void> written = co_await s.write_all(pattern(32u << 20));
        EXPECT_TRUE(!written && written.error().code == BaseErrc::Cancelled);
        EXPECT_TRUE(deadline.expired());
      }(client()),
      [](Stream& s) -> asio::awaitable<void> {
        s.cancel();
        co_return;
      }(client()));
}

TEST_P(StreamOf, CompletesWhatIsPendingWhenClosedAndStaysClosed) {
  Bytes buffer(16);
  std::error_code end{};
  client().async_read_some(buffer, [&](std::error_code ec, std::size_t) { end = ec; });
  client().close();
  client().close();
  io.restart();
  io.run();
  EXPECT_EQ(end, asio::error::operation_aborted);
  EXPECT_EQ(client().try_read(buffer).status, IoStatus::Failed);
  EXPECT_EQ(client().try_write(buffer).status, IoStatus::Failed);
  EXPECT_TRUE(client().has_pending_or_eof());
}

TEST_P(StreamOf, SurvivesWritingToAClosedOtherEnd) {  // SIGPIPE would end the program
  client().close();
  IoOutcome outcome = IoOutcome::ok(0);
  for (int i = 0; i < 1000 && outcome.status != IoStatus::Failed; ++i)
    outcome = server().try_write(pattern(100));
  EXPECT_EQ(outcome.status, IoStatus::Failed);
}

TEST_P(StreamOf, KnowsAnIdleConnectionThatIsStillGood) {  // B67
  EXPECT_FALSE(client().has_pending_or_eof());
  EXPECT_FALSE(client().has_pending_or_eof());
  server().try_write(as_bytes("late notice"));
  settle(client());
  EXPECT_TRUE(client().has_pending_or_eof());
  Bytes buffer(32);
  EXPECT_EQ(client().try_read(buffer).bytes, 11u) << "looking takes nothing";
  EXPECT_FALSE(client().has_pending_or_eof());
  server().close();
  settle(client());
  EXPECT_TRUE(client().has_pending_or_eof());
}

template <class T>
struct CountingAllocator {
  using value_type = T;
  int* balance;
  int* total;
  CountingAllocator(int* b, int* t) : balance(b), total(t) {}
  template <class U>
  CountingAllocator(const CountingAllocator<U>& other) : balance(other.balance), total(other.total) {}
  T* allocate(std::size_t n) {
    ++*balance;
    ++*total;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    --*balance;
    std::allocator<T>().deallocate(p, n);
  }
  template <class U>
  bool operator==(const CountingAllocator<U>& other) const {
    return balance == other.balance;
  }
};

TEST_P(StreamOf, AllocatesWithTheHandlersAllocator) {
  int balance = 0;
  int total = 0;
  int calls = 0;
  Bytes buffer(10);
  const CountingAllocator<void> allocator(&balance, &total);
  const auto read = [&] {
    client().async_read_some(buffer, asio::bind_allocator(allocator, [&](std::error_code ec, std::size_t n) {
                               EXPECT_FALSE(ec);
                               EXPECT_EQ(n, 10u);
                               ++calls;
                             }));
    io.restart();
    io.run();
  };
  server().try_write(pattern(20));
  read();  // waits for the socket
  read();  // over TLS: has it already
  EXPECT_EQ(calls, 2);
  EXPECT_GE(total, 1);
  EXPECT_EQ(balance, 0);
}

}  // namespace
}  // namespace sluice::net
