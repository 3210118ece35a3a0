#include "admin/http_routes.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "admin/text.h"
#include "base/text.h"

namespace sluice::admin {
namespace {

using Json = nlohmann::ordered_json;

struct PageRow {
  std::string_view path;
  Page page;
  std::string_view help;
};
constexpr PageRow kPages[] = {
    {"/", Page::Index, "This list."},
    {"/metrics", Page::Metrics, "Metrics in the text format of Prometheus."},
    {"/healthz", Page::Health, "200 while the process serves."},
    {"/readyz", Page::Ready, "200 while new sessions are taken, else 503 and why not."},
    {"/v1/profile", Page::Profile,
     "The profile: hosts, servers, round trips, routes, with their ages. JSON."},
};

// Without a login only what says little about people and stays small: clients, servers, users and options are
// for the console.
constexpr std::string_view kViews[] = {"REPLICAS",  "CLASSES", "BUDGETS",   "HOSTS", "RTT",
                                       "ROUTES",    "POOLS",   "DECISIONS", "STATS", "LISTS",
                                       "DATABASES", "STATE",   "VERSION"};
constexpr std::string_view kApi = "/v1/";

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(bool value) const { return value; }
  Json operator()(const std::string& value) const { return displayable(value); }
  Json operator()(const ClassCounts& counts) const {
    Json object = Json::object();
    for (const auto& [name, count] : counts)
      object[displayable(name)] = count;
    return object;
  }
  Json operator()(const FieldsList& list) const {
    Json array = Json::array();
    for (const Fields& fields : list) {
      Json object = Json::object();
      for (const auto& [name, value] : fields)
        object[std::string(name)] = displayable(value);
      array.push_back(std::move(object));
    }
    return array;
  }
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
      return "Only GET and HEAD are answered here.";
    case 413:
      return "Requests have no body here.";
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
  if (!path.starts_with(kApi)) return Page::Unknown;
  path.remove_prefix(kApi.size());
  for (const std::string_view name : kViews)
    if (ascii_lower(name) == path) return find_view(name);
  return Page::Unknown;
}

HttpResponse error_response(int status, std::string_view sentence) {
  HttpResponse response;
  response.status = status;
  response.body = std::string(sentence.empty() ? default_sentence(status) : sentence) + '\n';
  if (status == 405) response.allow = "GET, HEAD";
  return response;
}

HttpResponse index_response() {
  HttpResponse response;
  response.body = "Sluice, HTTP admin\n\n";
  const auto line = [&](std::string_view path, std::string_view help) {
    std::string padded(path);
    padded.resize(std::max<std::size_t>(padded.size(), 16), ' ');
    response.body.append(padded).append("  ").append(help).append("\n");
  };
  for (const PageRow& row : kPages)
    line(row.path, row.help);
  for (const std::string_view name : kViews)
    line(std::string(kApi) + ascii_lower(name), find_view(name)->help);
  return response;
}

HttpResponse ready_response(const StateRow& state) {
  if (!state.ready)
    return error_response(503, displayable(state.reason.empty() ? "not ready" : state.reason));
  HttpResponse response;
  response.body = "ready\n";
  return response;
}

HttpResponse view_response(const View& view, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[std::string(view.columns[i].name)] = std::visit(CellJson{}, row[i]);
    list.push_back(std::move(object));
  }
  Json document = Json::object();
  document[ascii_lower(view.name)] = std::move(list);
  HttpResponse response;
  response.content_type = "application/json";
  response.body = document.dump() + '\n';
  return response;
}

std::string http_reference() {
  std::string out = R"(# HTTP admin

<!-- Generated from the table of pages in src/admin. Change it there; a test compares. -->

The router answers GET and HEAD on its admin address, which is loopback unless configured otherwise: there is no login, so
whoever reaches the address may read what it shows. It changes nothing; commands are given on the [console](console.md).

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
)";
  return out;
}

}  // namespace sluice::admin
