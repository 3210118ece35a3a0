#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What the two sides of a takeover say to each other, over a SOCK_SEQPACKET Unix socket. One message is one
// packet: a line of text, and descriptors where it says so.
//
//   successor                       predecessor
//   "takeover 1"            ->      of a router; "takeover 1 placer" of a placer: one is not for the other
//                           <-      "clients", "admin": at most kDescriptorsMax listening sockets each,
//                           repeated
//                           <-      "cancels PATH": where cancel requests for sessions that stay are taken,
//                           there
//                                   and in processes that were taken over from before; repeated
//                           <-      "end"
//                           <-      or "refused REASON" in place of all that
//   "serving"               ->      stops accepting
//                           <-      "released"
//
// Either side that closes before "serving" has called it off: the predecessor goes on as before. Socket files
// are nobody's to remove from the first of its packets until "released", or until it has been called off.
namespace sluice::service {

// What a successor asks for: whose kind it is.
inline constexpr std::string_view kRouterTakeover = "takeover 1";
inline constexpr std::string_view kPlacerTakeover = "takeover 1 placer";
inline constexpr std::string_view kClientSockets = "clients";
inline constexpr std::string_view kAdminSockets = "admin";
inline constexpr std::string_view kCancelPath = "cancels ";
inline constexpr std::string_view kEndOfSockets = "end";
inline constexpr std::string_view kRefused = "refused ";
inline constexpr std::string_view kServing = "serving";
inline constexpr std::string_view kReleased = "released";

inline constexpr std::size_t kPacketBytesMax = 256;
inline constexpr std::size_t kDescriptorsMax = 64;

struct Packet {
  std::string text;
  std::vector<int> descriptors;  // close-on-exec; the receiver's to close
};

// One attempt, which a signal does not end; waits as long as the socket does. Errors: the system's; EAGAIN as
// std::errc::resource_unavailable_try_again.
Result<void> send_packet(int socket, std::string_view text, const std::vector<int>& descriptors = {});
// BaseErrc::Closed at the end. A packet that is too long, or has too many descriptors, is an error, and what
// came with it is closed.
Result<Packet> receive_packet(int socket);
// Whether the other end belongs to the user that we are.
bool same_user(int socket);
void close_all(const std::vector<int>& descriptors) noexcept;

}  // namespace sluice::service
