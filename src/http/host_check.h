#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice::http {

// What a port is bound to; not how its address was written, as that may be a name or any spelling.
enum class ListensAt { Loopback, Elsewhere, UnixSocket };

// Whether a request with that Host field is meant for a port that listens there, its address being given by
// `own_name`. It stops DNS
// rebinding: a page whose own name is made to resolve to our address is, to its browser, of the same origin
// as this port and may read what it answers; that it asked for another's name shows here. Pure.
//   Ours:     numeric addresses, whichever (such a page has a name); localhost; the port's own name, where
//             its address is one; the names given, "*" among them being any; no Host at all (HTTP/1.0:
//             no browser).
//   Without names given: any name, unless the port listens on loopback.
//   A port at a Unix socket is out of reach for browsers: all are ours.
// Ports count for nothing, as forwarding changes them; case and a dot at the end neither.
bool is_own_host(std::string_view host, ListensAt at, std::string_view own_name,
                 std::span<const std::string> names);

}  // namespace sluice::http
