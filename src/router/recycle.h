#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "protocol/frame_decoder.h"
#include "router/parameter_set.h"
#include "router/server_connection.h"
#include "router/server_pool.h"
#include "router/snapshot.h"

namespace sluice::router {

// Makes a server connection clean for another session: rolls back what is open (`status` is the server's last
// ReadyForQuery), then runs server_reset_query, within server_reset_timeout. `doubtful_syncs`: of the
// SessionTracker. The reason when it is not clean: it must then be closed.
asio::awaitable<std::optional<std::string>> reset_server(SnapshotPtr snapshot, ServerConnection& connection,
                                                         char status, std::uint32_t doubtful_syncs);

// What a server says unasked is taken off the front of `decoder`: changed settings go to `changes`, whole
// NoticeResponses to `notices`. A notification is for a session before: nobody has asked for one yet.
enum class Unasked { None, Partial, Unfit };  // nothing is left; the front of a message; no such message
Unasked take_unasked(protocol::FrameDecoder& decoder, ParameterSet::Entries& changes, Bytes& notices);
inline constexpr std::uint32_t kUnaskedBytesMax = 8192;  // of one such message

// Whether an idle connection is still good: alive, and silent but for what a server may say at any time
// (notices, notifications, changed settings, which are noted in `connection`).
bool good_to_reuse(ServerConnection& connection);

}  // namespace sluice::router
