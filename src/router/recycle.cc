#include "router/recycle.h"

#include <utility>

#include "net/deadline.h"
#include "protocol/backend_messages.h"
#include "protocol/frame_decoder.h"
#include "protocol/reset_machine.h"

namespace sluice::router {
namespace {

constexpr std::size_t kResetReadBytes = 2048;
// ParameterStatus messages that a server may send unasked at a time; it has some 15 parameters to report.
constexpr std::size_t kUnaskedChangesMax = 256;

std::string reason_of(const protocol::ResetMachine::Failure& failure) {
  if (!failure.error.message.empty()) return "reset failed: " + failure.error.message;
  return "reset did not end clean";
}

}  // namespace

asio::awaitable<std::optional<std::string>> reset_server(SnapshotPtr snapshot, ServerConnection& connection,
                                                         char status, std::uint32_t doubtful_syncs) {
  protocol::ResetMachine reset(status, snapshot->options().server_reset_query, doubtful_syncs);
  net::Stream& stream = connection.stream;
  net::Deadline deadline(stream.get_executor(), snapshot->options().server_reset_timeout,
                         [&stream] { stream.close(); });
  for (;;) {
    const protocol::ResetMachine::Want want = reset.step();
    if (want == protocol::ResetMachine::Want::Failed) co_return reason_of(*reset.failure());
    if (want == protocol::ResetMachine::Want::Done) break;
    const Bytes output = reset.take_output();
    if (!output.empty()) {
      if (auto sent = co_await stream.write_all(output); !sent) co_return "lost while it was reset";
    }
    auto count = co_await stream.read_some(reset.prepare(kResetReadBytes));
    if (!count) co_return deadline.expired() ? "timed out while it was reset" : "lost while it was reset";
    reset.commit(*count);
  }
  connection.parameters = ParameterSet::apply(connection.parameters, reset.parameters());
  co_return std::nullopt;
}

Unasked take_unasked(protocol::FrameDecoder& decoder, ParameterSet::Entries& changes, Bytes& notices) {
  for (;;) {
    const auto frame = decoder.next();
    if (!frame) return Unasked::Unfit;
    if (!*frame) return decoder.unread().empty() ? Unasked::None : Unasked::Partial;
    const protocol::Frame& message = **frame;
    if (message.type == 'S') {
      ByteReader in(message.body);
      const auto name = in.cstring();
      const auto value = in.cstring();
      if (!name || !value || changes.size() == kUnaskedChangesMax) return Unasked::Unfit;
      changes.emplace_back(*name, *value);
    } else if (message.type == 'N') {
      // What is beyond is read and dropped, as during the login.
      if (notices.size() + message.body.size() <= kUnaskedBytesMax)
        protocol::append_message(notices, 'N', message.body);
    } else if (message.type != 'A') {
      return Unasked::Unfit;
    }
  }
}

bool good_to_reuse(ServerConnection& connection) {
  if (!connection.stream.has_pending_or_eof()) return true;
  protocol::FrameDecoder decoder(kUnaskedBytesMax);
  const net::IoOutcome outcome = connection.stream.try_read(decoder.prepare(kUnaskedBytesMax));
  if (outcome.status != net::IoStatus::Ok) return false;
  decoder.commit(outcome.bytes);
  ParameterSet::Entries changes;
  Bytes notices;  // about things before the coming session
  if (take_unasked(decoder, changes, notices) != Unasked::None || connection.stream.has_pending_or_eof())
    return false;
  connection.parameters = ParameterSet::apply(connection.parameters, changes);
  return true;
}

}  // namespace sluice::router
