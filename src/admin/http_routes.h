#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "admin/http_request.h"
#include "admin/views.h"

namespace sluice::admin {

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow;  // of 405
};

// What a path stands for.
enum class Page { Index, Metrics, Health, Ready, Unknown };
using Route = std::variant<Page, const View*>;
Route find_route(std::string_view path);

// One sentence for people behind the status.
HttpResponse error_response(int status, std::string_view sentence = {});
HttpResponse index_response();
HttpResponse ready_response(const StateRow& state);
// {"replicas": [{"name": "r0", ...}, ...]}: the columns of the view are the names.
HttpResponse view_response(const View& view, const std::vector<Row>& rows);

// The bytes of a response; without the body for HEAD, whose headers are those of GET.
enum class Connection { KeepAlive, Close };
std::string serialize(const HttpResponse& response, HttpMethod method, Connection connection, WallTime now);

// docs/reference/http.md, whole.
std::string http_reference();

}  // namespace sluice::admin
