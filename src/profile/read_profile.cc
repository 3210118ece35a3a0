#include "profile/read_profile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/assert.h"
#include "profile/profile_error.h"
#include "profile/records.h"

namespace sluice::profile {
namespace {

constexpr unsigned kRecordTries = 1000;
constexpr int kShapeTries = 8;

// A record's known part; what an earlier layout does not have stays zero.
template <class Record>
Result<Record> load_record(RecordSource& source, std::uint64_t offset, std::uint32_t record_size) {
  Record record{};
  const std::size_t size = std::min<std::size_t>(record_size, sizeof record) - 8;
  const auto done = source.load(offset, {reinterpret_cast<std::byte*>(&record) + 8, size});
  if (!done) return done.error();
  return record;
}

class RecordReading {
 public:
  RecordReading(RecordSource& source, const Layout& layout, const sluice_profile_state& state)
      : source_(source), layout_(layout), state_(state) {}

  bool counts_fit() const noexcept {
    return state_.host_count <= layout_.table(SLUICE_PROFILE_HOSTS).capacity &&
           state_.server_count <= layout_.table(SLUICE_PROFILE_SERVERS).capacity &&
           state_.class_count <= layout_.table(SLUICE_PROFILE_CLASSES).capacity &&
           state_.route_count <= layout_.table(SLUICE_PROFILE_ROUTES).capacity;
  }

  Result<Contents> all() {
    if (const auto done = prepare(); !done) return done.error();
    Contents c;
    const std::uint64_t servers = layout_.table(SLUICE_PROFILE_SERVERS).capacity;
    const std::uint64_t routes = layout_.table(SLUICE_PROFILE_ROUTES).capacity;
    take<sluice_profile_host>(SLUICE_PROFILE_HOSTS, 0, state_.host_count, c.hosts);
    take<sluice_profile_server>(SLUICE_PROFILE_SERVERS, 0, state_.server_count, c.servers);
    for (std::uint64_t host = 0; host < state_.host_count; ++host)
      take<sluice_profile_rtt>(SLUICE_PROFILE_RTT, host * servers, state_.server_count, c.rtt);
    take<sluice_profile_class>(SLUICE_PROFILE_CLASSES, 0, state_.class_count, c.classes);
    take_shares(c.shares);
    take<sluice_profile_route>(SLUICE_PROFILE_ROUTES, 0, state_.route_count, c.routes);
    for (std::uint64_t host = 0; host < state_.host_count; ++host)
      take<sluice_profile_residual>(SLUICE_PROFILE_RESIDUALS, host * routes, state_.route_count, c.residuals);
    if (failure_) return *failure_;
    return c;
  }

 private:
  Result<void> prepare() {
    std::vector<RecordSource::Range> ranges;
    const auto add = [&](sluice_profile_table_index table, std::uint64_t first, std::uint64_t count) {
      if (count > 0)
        ranges.push_back({layout_.record(table, first), count * layout_.table(table).record_size});
    };
    add(SLUICE_PROFILE_HOSTS, 0, state_.host_count);
    add(SLUICE_PROFILE_SERVERS, 0, state_.server_count);
    add(SLUICE_PROFILE_CLASSES, 0, state_.class_count);
    add(SLUICE_PROFILE_SHARES, 0, state_.class_count);
    add(SLUICE_PROFILE_ROUTES, 0, state_.route_count);
    for (std::uint64_t host = 0; host < state_.host_count; ++host) {
      add(SLUICE_PROFILE_RTT, host * layout_.table(SLUICE_PROFILE_SERVERS).capacity, state_.server_count);
      add(SLUICE_PROFILE_RESIDUALS, host * layout_.table(SLUICE_PROFILE_ROUTES).capacity, state_.route_count);
    }
    return source_.prepare(ranges);
  }

  template <class Record, class List>
  void take(sluice_profile_table_index table, std::uint64_t first, std::uint64_t count, List& out) {
    for (std::uint64_t i = first; i < first + count && !failure_; ++i) {
      const auto record =
          load_record<Record>(source_, layout_.record(table, i), layout_.table(table).record_size);
      if (record) {
        out.push_back(from_record(*record));
      } else {
        failure_ = record.error();
      }
    }
  }

  void take_shares(std::vector<double>& out) {
    std::vector<double> row(state_.server_count);
    for (std::uint64_t i = 0; i < state_.class_count && !failure_ && !row.empty(); ++i) {
      const auto done =
          source_.load(layout_.record(SLUICE_PROFILE_SHARES, i), std::as_writable_bytes(std::span(row)));
      if (!done) failure_ = done.error();
      std::transform(row.begin(), row.end(), std::back_inserter(out),
                     [](double share) { return std::clamp(finite(share), 0.0, 1.0); });
    }
  }

  RecordSource& source_;
  const Layout& layout_;
  const sluice_profile_state& state_;
  std::optional<Error> failure_;
};

Publication publication_of(const Header& header, const sluice_profile_state& state) {
  Publication p;
  p.generation = header.generation;
  p.publications = state.publications;
  p.writer_pid = header.writer_pid;
  p.started_at = moment_of(header.started_at);
  p.heartbeat = moment_of(state.heartbeat);
  p.contents_at = moment_of(state.contents_at);
  p.interval = nanos_of(state.interval);
  p.closed = state.closed != 0;
  return p;
}

}  // namespace

Result<void> MappedRecords::load(std::uint64_t offset, std::span<std::byte> payload) {
  SLUICE_ASSERT(offset + 8 + payload.size() <= memory_.size());
  if (sluice_profile_load(memory_.data() + offset, payload.data(), payload.size(), kRecordTries) == 0)
    return ProfileErrc::Busy;
  return {};
}

Result<Profile> read_profile(RecordSource& source, const Header& header) {
  const Layout& layout = header.layout;
  const auto state_now = [&] {
    return load_record<sluice_profile_state>(source, layout.state_offset, layout.state_size);
  };
  const std::array<RecordSource::Range, 1> only_state = {{{layout.state_offset, layout.state_size}}};
  for (int i = 0; i < kShapeTries; ++i) {
    if (const auto done = source.prepare(only_state); !done) return done.error();
    const auto before = state_now();
    if (!before) return before.error();
    if (before->shape % 2 != 0) continue;
    RecordReading reading(source, layout, *before);
    if (!reading.counts_fit()) return ProfileErrc::Malformed;
    auto contents = reading.all();
    if (!contents) return contents.error();
    if (const auto done = source.prepare(only_state); !done) return done.error();
    const auto after = state_now();
    if (!after) return after.error();
    if (after->shape == before->shape) return Profile{publication_of(header, *before), *std::move(contents)};
  }
  return ProfileErrc::Busy;
}

}  // namespace sluice::profile
