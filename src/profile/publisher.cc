#include "profile/publisher.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "profile/records.h"

namespace sluice::profile {
namespace {

template <class List>
bool same_names(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name; });
}

bool same_shape(const Contents& a, const Contents& b) {
  return same_names(a.hosts, b.hosts) && same_names(a.servers, b.servers) && a.classes == b.classes &&
         same_names(a.routes, b.routes);
}

}  // namespace

Publisher::Publisher(std::span<std::byte> memory, const Capacities& capacities, const Identity& identity)
    : memory_(memory), capacities_(capacities), layout_(Layout::of(capacities)) {
  SLUICE_ASSERT(memory.size() >= layout_.file_size);
  SLUICE_ASSERT(reinterpret_cast<std::uintptr_t>(memory.data()) % 8 == 0);
  sluice_profile_header h{};
  std::memcpy(h.magic, SLUICE_PROFILE_MAGIC, sizeof h.magic);
  h.layout_version = SLUICE_PROFILE_VERSION;
  h.layout_compatible = SLUICE_PROFILE_VERSION;
  h.byte_order = SLUICE_PROFILE_BYTE_ORDER;
  h.header_size = sizeof h;
  h.file_size = layout_.file_size;
  h.generation = identity.generation;
  h.writer_pid = identity.writer_pid;
  h.started_at = to_nanos(identity.started_at);
  h.started_at_unix = identity.started_at_unix;
  h.table_count = SLUICE_PROFILE_TABLES;
  h.state_offset = layout_.state_offset;
  h.state_size = layout_.state_size;
  std::copy(layout_.tables.begin(), layout_.tables.end(), h.tables);
  std::memcpy(memory.data(), &h, sizeof h);
}

template <class Record>
void Publisher::store(sluice_profile_table_index table, std::uint64_t index, const Record& record) {
  static_assert(sizeof(Record) % 8 == 0 && offsetof(Record, sequence) == 0);
  sluice_profile_store(at(layout_.record(table, index)), reinterpret_cast<const std::byte*>(&record) + 8,
                       sizeof record - 8);
}

void Publisher::store_shares(std::uint64_t index, std::span<const double> shares) {
  sluice_profile_store(at(layout_.record(SLUICE_PROFILE_SHARES, index)), shares.data(), shares.size_bytes());
}

void Publisher::store_state(const Beat& beat) {
  state_.heartbeat = to_nanos(beat.now);
  state_.heartbeat_unix = beat.now_unix;
  state_.contents_at = to_nanos(beat.contents_at);
  state_.interval = beat.interval.count();
  sluice_profile_store(at(layout_.state_offset), reinterpret_cast<const std::byte*>(&state_) + 8,
                       sizeof state_ - 8);
}

void Publisher::store_tables(const Contents& c, bool all) {
  for (std::size_t i = 0; i < c.hosts.size(); ++i)
    if (all || c.hosts[i] != last_.hosts[i]) store(SLUICE_PROFILE_HOSTS, i, to_record(c.hosts[i]));
  for (std::size_t i = 0; i < c.servers.size(); ++i)
    if (all || c.servers[i] != last_.servers[i]) store(SLUICE_PROFILE_SERVERS, i, to_record(c.servers[i]));
  for (std::size_t i = 0; i < c.rtt.size(); ++i)
    if (all || c.rtt[i] != last_.rtt[i])
      store(SLUICE_PROFILE_RTT, i / c.servers.size() * capacities_.servers + i % c.servers.size(),
            to_record(c.rtt[i]));
  if (all)
    for (std::size_t i = 0; i < c.classes.size(); ++i)
      store(SLUICE_PROFILE_CLASSES, i, to_record(c.classes[i]));
  for (std::size_t i = 0; i < c.classes.size(); ++i) {
    const auto row = [&](const Contents& of) {
      return std::span(of.shares).subspan(i * c.servers.size(), c.servers.size());
    };
    const auto now = row(c);
    if (all || !std::equal(now.begin(), now.end(), row(last_).begin())) store_shares(i, now);
  }
  for (std::size_t i = 0; i < c.routes.size(); ++i)
    if (all || c.routes[i] != last_.routes[i]) store(SLUICE_PROFILE_ROUTES, i, to_record(c.routes[i]));
  for (std::size_t i = 0; i < c.residuals.size(); ++i)
    if (all || c.residuals[i] != last_.residuals[i])
      store(SLUICE_PROFILE_RESIDUALS, i / c.routes.size() * capacities_.routes + i % c.routes.size(),
            to_record(c.residuals[i]));
}

void Publisher::publish(const Contents& contents, const Beat& beat) {
  SLUICE_ASSERT(fits(contents) && is_consistent(contents));
  const bool reshape = state_.publications == 0 || !same_shape(contents, last_);
  if (reshape) {
    ++state_.shape;  // odd: indexes mean nothing until the end
    store_state(beat);
  }
  store_tables(contents, reshape);
  if (reshape) {
    ++state_.shape;
    state_.host_count = contents.hosts.size();
    state_.server_count = contents.servers.size();
    state_.class_count = contents.classes.size();
    state_.route_count = contents.routes.size();
  }
  ++state_.publications;
  store_state(beat);
  last_ = contents;
}

void Publisher::beat(const Beat& beat) {
  store_state(beat);
}

void Publisher::close(const Beat& beat) {
  state_.closed = 1;
  store_state(beat);
}

}  // namespace sluice::profile
