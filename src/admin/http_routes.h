#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "admin/http_access.h"
#include "admin/views.h"
#include "http/page.h"

namespace sluice::admin {

using HttpResponse = http::Page;

// What a path stands for.
enum class Page {
  Index,
  Dashboard,
  Metrics,
  Health,
  Ready,
  Profile,
  Overview,
  RttMatrix,
  History,
  Events,
  Unknown
};
using Route = std::variant<Page, const View*>;
Route find_route(std::string_view path);

// What a POST asks for: /v1/reload, /v1/replicas/NAME/drain, /v1/replicas/NAME/undrain.
struct CommandRequest {
  enum class Kind { Reload, Drain, Undrain };
  Kind kind = Kind::Reload;
  std::string replica;
};
std::optional<CommandRequest> find_command(std::string_view path);
std::string_view command_name(CommandRequest::Kind kind) noexcept;

// One sentence for people behind the status.
HttpResponse error_response(int status, std::string_view sentence = {});
// The same for a request that goes no further: a command is answered with JSON, as it always is.
HttpResponse refusal_response(int status, const http::PageRequest& request);
HttpResponse index_response();
bool has_dashboard() noexcept;  // else the program was built without it
// The page, or why there is none.
HttpResponse dashboard_response(std::string_view path, std::string_view accept_encoding);
HttpResponse json_response(std::string document);
// {"notes": [...]}, or {"error": ..., "detail": ..., "hint": ...} with the status that goes with it.
HttpResponse command_response(const CommandResult& result);
// Of a command that is not carried out, by why.
HttpResponse access_response(Access access);
HttpResponse ready_response(const StateRow& state);
// docs/reference/http.md, whole.
std::string http_reference();

}  // namespace sluice::admin
