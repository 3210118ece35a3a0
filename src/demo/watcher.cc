#include "demo/watcher.h"

#include <utility>

#include <fmt/format.h>

#include "demo/http_get.h"

namespace sluice::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kWindow{5000};  // of the live response times
constexpr milliseconds kHttpTimeout{2000};
constexpr std::size_t kChangesKept = 100;

}  // namespace

Watcher::Watcher(std::uint16_t router_admin_port, std::uint16_t placer_admin_port)
    : router_port_(router_admin_port), placer_port_(placer_admin_port), window_(kWindow) {
  for (const char* name : {"premium", "freemium"}) {
    names_.emplace_back(name);
    state_.classes.push_back({name, {}, 0, 0});
  }
}

void Watcher::look(Millis time) {
  state_.elapsed = std::chrono::duration_cast<seconds>(time);
  state_.phase = phase_at(time);
  try {
    if (const auto page = get(router_port_, "/v1/replicas")) state_.replicas = read_replicas(*page, names_);
    if (const auto page = get(router_port_, "/v1/decisions"))
      add_changes(read_changes(*page, last_decision_));
    if (const auto page = get(router_port_, "/metrics")) window_.add(time, read_response_histograms(*page));
    if (const auto page = get(placer_port_, "/v1/overview")) state_.routes = read_routes(*page);
    ++looks_;
  } catch (const std::exception& e) {
    problem_ = e.what();
  }
  for (ClassState& row : state_.classes)
    row.response = window_.of(row.name);
}

TableState Watcher::whole() const {
  TableState result = state_;
  for (ClassState& row : result.classes)
    row.response = window_.since_start(row.name);
  return result;
}

std::string Watcher::problem() const {
  return looks_ == 0 ? "the HTTP admin gives no usable answer: " + problem_ : "";
}

std::optional<std::string> Watcher::get(std::uint16_t port, const std::string& path) {
  auto answer = http_get(port, path, kHttpTimeout);
  if (answer && answer->status == 200) return std::move(answer->body);
  problem_ = path + (answer ? fmt::format(" answers {}", answer->status) : " does not answer");
  return std::nullopt;
}

void Watcher::add_changes(std::vector<RoleChange> changes) {
  for (RoleChange& change : changes) {
    for (ClassState& row : state_.classes)
      if (row.name == change.priority_class) ++(change.borrow ? row.borrowings : row.returns);
    state_.changes.push_back(std::move(change));
  }
  if (state_.changes.size() > kChangesKept)
    state_.changes.erase(state_.changes.begin(),
                         state_.changes.end() - static_cast<std::ptrdiff_t>(kChangesKept));
}

}  // namespace sluice::demo
