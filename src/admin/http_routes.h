#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "admin/views.h"
#include "http/page.h"

namespace sluice::admin {

using HttpResponse = http::Page;

// What a path stands for.
enum class Page { Index, Metrics, Health, Ready, Profile, Unknown };
using Route = std::variant<Page, const View*>;
Route find_route(std::string_view path);

// One sentence for people behind the status.
HttpResponse error_response(int status, std::string_view sentence = {});
HttpResponse index_response();
HttpResponse ready_response(const StateRow& state);
// {"replicas": [{"name": "r0", ...}, ...]}: the columns of the view are the names.
HttpResponse view_response(const View& view, const std::vector<Row>& rows);

// docs/reference/http.md, whole.
std::string http_reference();

}  // namespace sluice::admin
