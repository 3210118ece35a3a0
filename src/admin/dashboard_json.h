#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "admin/history.h"
#include "admin/router_view.h"
#include "admin/views.h"

// What the dashboard is fed with: documents of one line, described in docs/reference/openapi.json. Names that
// clients chose are in them as text; whoever shows them treats them as such. Pure.
namespace sluice::admin {

// Whether the page may offer commands.
enum class Commands { Off, WithToken };

// GET /v1/overview: state, classes, replicas, rejections, warnings.
std::string overview_json(const Snapshot& overview, std::string_view version, Commands commands);
// GET /v1/rtt_matrix: {"hosts": [...], "servers": [...], "rtt_us": [[...], ...], "source": [[...], ...]}
std::string rtt_matrix_json(const std::vector<RttRow>& rows);
// GET /v1/history: the newest `most` samples, oldest first, as columns, and of each replica the newest `most`
// stays.
std::string history_json(const History& history, std::size_t most);
// {"replicas": [{"name": "r0", ...}, ...]}: the columns of the view are the names. Several views become
// members of one object.
std::string views_json(const std::vector<const View*>& views, const Snapshot& snapshot,
                       const ViewContext& context);

}  // namespace sluice::admin
