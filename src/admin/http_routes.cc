#include "admin/http_routes.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "admin/text.h"
#include "base/text.h"
#include "web/asset_page.h"

namespace sluice::admin {
namespace {

using Json = nlohmann::ordered_json;

struct PageRow {
  std::string_view path;
  Page page;
  std::string_view help;
};
constexpr PageRow kPages[] = {
    {"/", Page::Index, "The dashboard for browsers, this list for others."},
    {"/dashboard", Page::Dashboard,
     "The dashboard: pools, classes, response times and what was decided, as it happens."},
    {"/metrics", Page::Metrics, "Metrics in the text format of Prometheus."},
    {"/healthz", Page::Health, "200 while the process serves."},
    {"/readyz", Page::Ready, "200 while new sessions are taken, else 503 and why not."},
    {"/v1/profile", Page::Profile,
     "The profile: hosts, servers, round trips, routes, with their ages. JSON."},
    {"/v1/overview", Page::Overview,
     "State, classes with the times of the last minute, replicas, rejections, warnings. JSON."},
    {"/v1/rtt_matrix", Page::RttMatrix, "What one SELECT 1 costs, as a table of hosts and servers. JSON."},
    {"/v1/history", Page::History,
     "The last hour: classes every ten seconds, and the pools of each replica. JSON."},
    {"/v1/events", Page::Events, "All that the dashboard shows, as it changes: server-sent events."},
};

// Without a login only what says little about people and stays small: clients, servers, users and options are
// for the console.
constexpr std::string_view kViews[] = {"REPLICAS", "CLASSES",   "BUDGETS",   "HOSTS",        "RTT",
                                       "ROUTES",   "POOLS",     "DECISIONS", "ROLE_CHANGES", "STATS",
                                       "LISTS",    "DATABASES", "STATE",     "VERSION"};
constexpr std::string_view kApi = "/v1/";
constexpr std::string_view kDashboard = "/dashboard";
constexpr std::string_view kNoDashboard =
    "This program was built without the dashboard. To have it, install Node.js and npm and build with "
    "-DSLUICE_DASHBOARD=ON;\nwhat it shows is under /v1 as well.";

struct CommandHelpRow {
  std::string_view path, help;
};
constexpr CommandHelpRow kHttpCommands[] = {
    {"/v1/replicas/NAME/drain", "No new sessions for the replica; those it has go on."},
    {"/v1/replicas/NAME/undrain", "Sessions again."},
    {"/v1/reload", "The configuration is read again, all or nothing."},
};

std::string_view default_sentence(int status) {
  switch (status) {
    case 400:
    case 501:
    case 505:
      return "This is no HTTP/1.1 request that can be understood.";
    case 404:
      return "There is nothing here; see / for what there is.";
    case 405:
      return "Only GET and HEAD are answered here; POST where / names a command.";
    case 413:
      return "Requests have no body here.";
    case 421:
      return "This port is not known by the name that it was asked for by (Host). Ask for its address in "
             "numbers, or add the name to admin_names.";
    case 431:
      return "The request's headers are too long.";
    case 503:
      return "Too many connections.";
    case 504:
      return "The router did not answer in time.";
    default:
      return "Something went wrong.";
  }
}

}  // namespace

Route find_route(std::string_view path) {
  for (const PageRow& row : kPages)
    if (row.path == path) return row.page;
  if (path.starts_with("/dashboard/") && web::find_asset(path) != nullptr) return Page::Dashboard;
  if (!path.starts_with(kApi)) return Page::Unknown;
  path.remove_prefix(kApi.size());
  for (const std::string_view name : kViews)
    if (ascii_lower(name) == path) return find_view(name);
  return Page::Unknown;
}

std::optional<CommandRequest> find_command(std::string_view path) {
  using Kind = CommandRequest::Kind;
  constexpr std::string_view kReplicas = "/v1/replicas/";
  if (path == "/v1/reload") return CommandRequest{Kind::Reload, ""};
  if (!path.starts_with(kReplicas)) return std::nullopt;
  path.remove_prefix(kReplicas.size());
  const std::size_t slash = path.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  std::string name = http::percent_decoded(path.substr(0, slash));
  const std::string_view verb = path.substr(slash + 1);
  if (verb == "drain") return CommandRequest{Kind::Drain, std::move(name)};
  if (verb == "undrain") return CommandRequest{Kind::Undrain, std::move(name)};
  return std::nullopt;
}

std::string_view command_name(CommandRequest::Kind kind) noexcept {
  switch (kind) {
    case CommandRequest::Kind::Reload:
      return "reload";
    case CommandRequest::Kind::Drain:
      return "drain";
    case CommandRequest::Kind::Undrain:
      return "undrain";
  }
  return "";
}

HttpResponse error_response(int status, std::string_view sentence) {
  HttpResponse response;
  response.status = status;
  response.body = std::string(sentence.empty() ? default_sentence(status) : sentence) + '\n';
  if (status == 405) response.allow = "GET, HEAD";
  return response;
}

HttpResponse refusal_response(int status, const http::PageRequest& request) {
  if (request.method != http::PageRequest::Method::Post) return error_response(status);
  CommandResult refused;
  refused.sqlstate = "08000";  // anything but success: `status` is what counts
  refused.message = default_sentence(status);
  HttpResponse response = command_response(refused);
  response.status = status;
  if (status == 405) response.allow = "GET, HEAD";
  return response;
}

HttpResponse index_response() {
  HttpResponse response;
  response.body = "Sluice, HTTP admin\n\n";
  if (!has_dashboard()) response.body += std::string(kNoDashboard) + "\n\n";
  const auto line = [&](std::string_view path, std::string_view help) {
    std::string padded(path);
    padded.resize(std::max<std::size_t>(padded.size(), 16), ' ');
    response.body.append(padded).append("  ").append(help).append("\n");
  };
  for (const PageRow& row : kPages)
    line(row.path, row.help);
  for (const std::string_view name : kViews)
    line(std::string(kApi) + ascii_lower(name), find_view(name)->help);
  response.body += "\nPOST, with an admin token:\n";
  for (const CommandHelpRow& row : kHttpCommands)
    line(row.path, row.help);
  return response;
}

HttpResponse ready_response(const StateRow& state) {
  if (!state.ready)
    return error_response(503, displayable(state.reason.empty() ? "not ready" : state.reason));
  HttpResponse response;
  response.body = "ready\n";
  return response;
}

bool has_dashboard() noexcept {
  return web::find_asset(kDashboard) != nullptr;
}

HttpResponse dashboard_response(std::string_view path, std::string_view accept_encoding) {
  if (const web::Asset* asset = web::find_asset(path)) return web::asset_page(*asset, accept_encoding);
  return error_response(404, kNoDashboard);
}

HttpResponse json_response(std::string document) {
  HttpResponse response;
  response.content_type = "application/json";
  response.body = std::move(document);
  response.body += '\n';
  return response;
}

HttpResponse command_response(const CommandResult& result) {
  Json document = Json::object();
  if (result.ok()) {
    Json notes = Json::array();
    for (const std::string& note : result.notes)
      notes.push_back(displayable(note));
    document["notes"] = std::move(notes);
  } else {
    document["error"] = displayable(result.message);
    document["detail"] = displayable(result.detail);
    document["hint"] = displayable(result.hint);
  }
  HttpResponse response = json_response(document.dump());
  if (!result.ok()) response.status = result.sqlstate == "42704" ? 404 : 409;
  return response;
}

HttpResponse access_response(Access access) {
  static constexpr std::array<http::PageField, 1> kChallenge{{{"WWW-Authenticate", "Bearer"}}};
  CommandResult refused;
  refused.sqlstate = "42501";
  if (access == Access::Off) {
    refused.message = "nothing can be changed here: no admin_token_file is configured";
  } else if (access == Access::Foreign) {
    refused.message = "commands are taken from pages of this address alone";
  } else {
    refused.message = "the token is missing or wrong";
  }
  HttpResponse response = command_response(refused);
  response.status = access == Access::Refused ? 401 : 403;
  if (access == Access::Refused) response.fields = kChallenge;
  return response;
}

std::string http_reference() {
  std::string out = R"(# HTTP admin

<!-- Generated from the table of pages in src/admin. Change it there; a test compares. -->

The router answers GET and HEAD on its admin address, which is loopback unless configured otherwise: there is no login, so
whoever reaches the address may read what it shows. With `admin_token_file` it takes a few [commands](#commands); all others are given on
the [console](console.md). What is under `/v1` stays as it is within a version: members may come, none go or change. The shape of each answer
is in [openapi.json](openapi.json) (OpenAPI 3.1).

| path | what it gives |
| --- | --- |
)";
  const auto line = [&out](std::string_view path, std::string_view help) {
    out.append("| `").append(path).append("` | ").append(help).append(" |\n");
  };
  for (const PageRow& row : kPages)
    line(row.path, row.help);
  for (const std::string_view name : kViews)
    line(std::string(kApi) + ascii_lower(name), std::string(find_view(name)->help) + " JSON.");
  out += R"(
The JSON is one object with one list, named like the view, of objects named like the columns of the console's view
([console](console.md)): `GET /v1/replicas` gives `{"replicas": [{"name": "r0", ...}]}`. What the console prints as `yes`
and `no` is `true` and `false`; counts per class are an object, changes of pools a list of objects, unknown values `null`.

Requests have no body (413), a head of at most 8 KiB (431); other methods get 405, other paths 404, each with a sentence
in the body. When all connections are taken a further one gets 503; when the router does not answer in time, 504.

## Names

A web page from elsewhere whose name is made to resolve to this address (DNS rebinding) is of this port's own origin to its browser, and could read all of it.
So the port answers for its own names alone, by the `Host` of the request: any address in numbers, `localhost`, what `admin_addr` says, and
the names in `admin_names`. Others get 421. Without `admin_names` every name is taken where the port is not bound to loopback (however `admin_addr` writes that), so that scrapes by name go on: name them,
and it is checked there too. Behind a proxy that passes the browser's `Host` on, the name that browsers use belongs there. `curl -H 'Host: name'` tries it.

`/v1/overview` is made at most once a second, whoever asks. Its `response` and `wait` are of the last minute; the totals since the start are in
`/v1/classes` and in the metrics. Names of users and routes are what clients chose: they are data, and to be shown as text.

## Events

`GET /v1/events` does not end. It sends `overview` and `decisions` (with role changes) once a second, `routes` every five, `rtt` (the matrix) and
`sample` (the newest of the history) every ten; each is a whole document on one `data:` line, and is sent when it says something new. `heartbeat` (`{}`)
comes when there was nothing for five seconds: a stream that is silent for longer is dead. A reader that is slow misses what is old, gets the kinds in turn, and is
let go when it does not take an event within 30 seconds. There may be 32 streams (503). They end when the router shuts down.

## Commands

With a token in the file that `admin_token_file` names, these are carried out for `Authorization: Bearer TOKEN`:

| path | what a POST does |
| --- | --- |
)";
  for (const CommandHelpRow& row : kHttpCommands)
    line(row.path, row.help);
  out += R"(
The answer is `{"notes": [...]}`, or `{"error": ..., "detail": ..., "hint": ...}`: 401 without the right token, 403 without a configured one or where a
browser sends it for a page from elsewhere (`Origin`, `Sec-Fetch-Site`), 404 for no such replica, 405 for no such command, 409 when it fails, 421 for another's name,
504 when the router does not answer in time (then it may still be carried out). What is refused before it is read (400, 413, 431, 503) is a sentence. Commands that are refused
leave a line in the log, with where they came from, and count in `sluice_admin_commands_refused_total`. The token travels as it is: away from
loopback, put a proxy with TLS in front.

```sh
curl -X POST -H "Authorization: Bearer $TOKEN" http://127.0.0.1:9632/v1/replicas/r2/drain
```
)";
  return out;
}

}  // namespace sluice::admin
