#include "cluster/acceptance.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/connect.h"
#include "net/deadline.h"
#include "protocol/error_response.h"
#include "protocol/frame_decoder.h"
#include "protocol/frontend_messages.h"

namespace sluice::cluster {
namespace {

using pgclient::PgErrc;
using pgclient::PgError;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kLoginAnswerBytesMax = 16 * 1024;
constexpr std::size_t kReadBytes = 1024;

PgError failed(std::error_code code, std::string message = {}, std::string sqlstate = {}) {
  if (message.empty()) message = code.message();
  return {Error(code, Side::Server, Retry::Yes), std::move(sqlstate), std::move(message)};
}

// What the first message says; nothing when the server accepts connections.
std::optional<PgError> refusal(const protocol::Frame& first) {
  if (first.type == 'R' || first.type == 'N' || first.type == 'v') return std::nullopt;
  if (first.type != 'E')
    return failed(PgErrc::UnexpectedResult, "the answer to a start-up is not PostgreSQL's");
  protocol::ErrorFields fields = protocol::parse_error_fields(first.body);
  if (fields.sqlstate != "57P03") return std::nullopt;
  return failed(PgErrc::LoginFailed, std::move(fields.message), std::move(fields.sqlstate));
}

asio::awaitable<std::optional<PgError>> ask(net::Stream& stream, std::string database) {
  std::vector<protocol::StartupParameter> parameters;
  parameters.emplace_back("user", "sluice");
  parameters.emplace_back("database", std::move(database));
  Bytes message;
  protocol::append_startup_message(message, parameters);
  if (const auto sent = co_await stream.write_all(message); !sent) co_return failed(sent.error().code);
  protocol::FrameDecoder decoder(kLoginAnswerBytesMax);
  for (;;) {
    const auto count = co_await stream.read_some(decoder.prepare(kReadBytes));
    if (!count && count.error().code == BaseErrc::Closed)
      co_return failed(PgErrc::ConnectionLost, "the server closed the connection without an answer");
    if (!count) co_return failed(count.error().code);
    decoder.commit(*count);
    const auto frame = decoder.next();
    if (!frame) co_return failed(PgErrc::UnexpectedResult, "the answer to a start-up is not PostgreSQL's");
    if (*frame) co_return refusal(**frame);
  }
}

}  // namespace

asio::awaitable<pgclient::PgResult<ProbeAnswer>> probe_acceptance(pgclient::ConnectParams params,
                                                                  std::chrono::milliseconds timeout) {
  const Clock::time_point started = Clock::now();
  net::ConnectTarget target;
  target.host = params.hostaddr.empty() ? std::move(params.host) : std::move(params.hostaddr);
  target.port = params.port;
  net::SocketOptions options;
  auto connected = co_await net::connect(std::move(target), timeout, options);
  if (!connected) co_return failed(connected.error().code);
  net::Stream stream = *std::move(connected);
  const auto left = timeout - (Clock::now() - started);
  const net::Deadline deadline(stream.get_executor(), left, [&stream] { stream.close(); });
  std::optional<PgError> problem = co_await ask(stream, std::move(params.database));
  if (deadline.expired()) co_return failed(BaseErrc::Timeout);
  if (problem) co_return *std::move(problem);
  ProbeAnswer answer;
  answer.round_trip = Clock::now() - started;
  co_return answer;
}

}  // namespace sluice::cluster
