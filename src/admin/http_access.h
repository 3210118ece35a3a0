#pragma once

#include <optional>
#include <string_view>

#include "admin/router_view.h"
#include "http/page.h"

namespace sluice::admin {

// Whether a request may change something. Pure.
enum class Access {
  Granted,
  Off,      // no token is configured: nothing can be changed over HTTP
  Foreign,  // a browser sends it on behalf of a page from elsewhere
  Refused,  // the token is missing or wrong
};

// The token comes as `Authorization: Bearer TOKEN`, a field that no form and no link of another page can
// send. How long this takes says nothing of the token but its length.
Access judge(const http::PageRequest& request, std::string_view token);

std::optional<CommandRefusal> refusal_of(Access access) noexcept;  // nothing where it is granted

// Whether the browser says that the request comes from a page of ours, or from no page. True where it says
// nothing: then it is no browser. Sources: Fetch Metadata Request Headers (Sec-Fetch-Site); WHATWG, Fetch,
// "Origin header".
bool is_of_own_page(const http::PageRequest& request);

}  // namespace sluice::admin
