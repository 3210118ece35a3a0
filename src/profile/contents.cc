#include "profile/contents.h"

#include <algorithm>

namespace sluice::profile {
namespace {

using namespace std::chrono_literals;

template <class List, class Name>
std::optional<std::size_t> index_of(const List& list, Name name_of, std::string_view name) noexcept {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& e) { return name_of(e) == name; });
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

constexpr auto kNameOf = [](const auto& entry) -> std::string_view { return entry.name; };

}  // namespace

void fit_matrices(Contents& c) {
  c.rtt.assign(c.hosts.size() * c.servers.size(), {});
  c.residuals.assign(c.hosts.size() * c.routes.size(), {});
  c.shares.assign(c.classes.size() * c.servers.size(), 0.0);
}

bool is_consistent(const Contents& c) noexcept {
  return c.rtt.size() == c.hosts.size() * c.servers.size() &&
         c.residuals.size() == c.hosts.size() * c.routes.size() &&
         c.shares.size() == c.classes.size() * c.servers.size();
}

std::optional<std::size_t> find_host(const Contents& c, std::string_view name) noexcept {
  return index_of(c.hosts, kNameOf, name);
}
std::optional<std::size_t> find_server(const Contents& c, std::string_view name) noexcept {
  return index_of(c.servers, kNameOf, name);
}
std::optional<std::size_t> find_class(const Contents& c, std::string_view name) noexcept {
  return index_of(
      c.classes, [](const std::string& n) -> std::string_view { return n; }, name);
}
std::optional<std::size_t> find_route(const Contents& c, std::string_view name) noexcept {
  return index_of(c.routes, kNameOf, name);
}

WriterState writer_state(const Publication& p, Moment now) noexcept {
  if (p.closed) return WriterState::Closed;
  // The heartbeat comes out of a file: compared without a subtraction that could overflow.
  const Nanos patience = std::clamp<Nanos>(p.interval, 500ms, 1h) * 4;
  if (p.heartbeat > now || p.heartbeat <= Moment{} || p.heartbeat < now - patience) return WriterState::Dead;
  return WriterState::Alive;
}

std::string_view writer_state_name(WriterState state) noexcept {
  switch (state) {
    case WriterState::Alive:
      return "alive";
    case WriterState::Closed:
      return "closed";
    case WriterState::Dead:
      return "dead";
  }
  return "dead";
}

}  // namespace sluice::profile
