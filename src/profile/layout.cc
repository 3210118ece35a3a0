#include "profile/layout.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "profile/profile_error.h"

namespace sluice::profile {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the layout is little-endian");
static_assert(sizeof(double) == 8);

// Of the structs in sluice/profile.h, as version 1 has them: fields are only ever added behind these.
constexpr std::array<std::uint32_t, SLUICE_PROFILE_TABLES> kSizesMin = {
    sizeof(sluice_profile_host),    sizeof(sluice_profile_server), sizeof(sluice_profile_rtt),
    sizeof(sluice_profile_class),   sizeof(sluice_profile_shares), sizeof(sluice_profile_route),
    sizeof(sluice_profile_residual)};
static_assert(sizeof(sluice_profile_host) == 216 && sizeof(sluice_profile_server) == 192);
static_assert(sizeof(sluice_profile_rtt) == 40 && sizeof(sluice_profile_class) == 136);
static_assert(sizeof(sluice_profile_shares) == 16 && sizeof(sluice_profile_route) == 320);
static_assert(sizeof(sluice_profile_residual) == 32 && sizeof(sluice_profile_state) == 96);
static_assert(sizeof(sluice_profile_header) == 336 && sizeof(sluice_profile_table) == 16);

// Larger files are none of ours: a reader reserves memory by these sizes.
constexpr std::uint64_t kFileSizeMax = std::uint64_t{1} << 30;

std::uint32_t doubled_until(std::uint32_t capacity, std::size_t needed) noexcept {
  while (capacity < needed && capacity < (1u << 30))
    capacity *= 2;
  return capacity;
}

bool is_sound(const sluice_profile_table& table, std::uint32_t size_min,
              const sluice_profile_header& h) noexcept {
  if (table.offset % 8 != 0 || table.record_size % 8 != 0) return false;
  if (table.record_size < size_min || table.offset < h.header_size || table.offset > h.file_size)
    return false;
  return std::uint64_t{table.record_size} * table.capacity <= h.file_size - table.offset;
}

bool is_sound(const sluice_profile_header& h) noexcept {
  if (h.header_size < sizeof h || h.header_size > h.file_size || h.file_size > kFileSizeMax) return false;
  if (h.table_count < SLUICE_PROFILE_TABLES || h.table_count > SLUICE_PROFILE_TABLES_MAX) return false;
  if (h.state_offset % 8 != 0 || h.state_size % 8 != 0 || h.state_offset < h.header_size) return false;
  if (h.state_size < sizeof(sluice_profile_state)) return false;
  if (std::uint64_t{h.state_offset} + h.state_size > h.file_size) return false;
  for (std::size_t i = 0; i < SLUICE_PROFILE_TABLES; ++i)
    if (!is_sound(h.tables[i], kSizesMin[i], h)) return false;
  const auto capacity = [&](sluice_profile_table_index i) { return std::uint64_t{h.tables[i].capacity}; };
  const std::uint64_t hosts = capacity(SLUICE_PROFILE_HOSTS), servers = capacity(SLUICE_PROFILE_SERVERS);
  return capacity(SLUICE_PROFILE_RTT) >= hosts * servers &&
         capacity(SLUICE_PROFILE_RESIDUALS) >= hosts * capacity(SLUICE_PROFILE_ROUTES) &&
         capacity(SLUICE_PROFILE_SHARES) >= capacity(SLUICE_PROFILE_CLASSES) &&
         h.tables[SLUICE_PROFILE_SHARES].record_size >= 8 + 8 * servers;
}

}  // namespace

bool Capacities::hold(const Contents& c) const noexcept {
  return c.hosts.size() <= hosts && c.servers.size() <= servers && c.classes.size() <= classes &&
         c.routes.size() <= routes;
}

Capacities Capacities::grown_for(const Contents& c) const noexcept {
  return {doubled_until(hosts, c.hosts.size()), doubled_until(servers, c.servers.size()),
          doubled_until(classes, c.classes.size()), doubled_until(routes, c.routes.size())};
}

Layout Layout::of(const Capacities& c) noexcept {
  Layout layout;
  layout.state_offset = sizeof(sluice_profile_header);
  layout.state_size = sizeof(sluice_profile_state);
  const std::array<std::uint32_t, SLUICE_PROFILE_TABLES> capacities = {
      c.hosts, c.servers, c.hosts * c.servers, c.classes, c.classes, c.routes, c.hosts * c.routes};
  std::uint64_t at = layout.state_offset + layout.state_size;
  for (std::size_t i = 0; i < SLUICE_PROFILE_TABLES; ++i) {
    const std::uint32_t size = i == SLUICE_PROFILE_SHARES ? 8 + 8 * c.servers : kSizesMin[i];
    layout.tables[i] = {at, size, capacities[i]};
    at += std::uint64_t{size} * capacities[i];
  }
  layout.file_size = at;
  return layout;
}

Result<Header> read_header(ByteView bytes, std::uint64_t size_of_file) noexcept {
  sluice_profile_header h;
  static_assert(std::is_trivially_copyable_v<sluice_profile_header>);
  if (bytes.size() < sizeof h.magic) return ProfileErrc::NotAProfile;
  if (std::memcmp(bytes.data(), SLUICE_PROFILE_MAGIC, sizeof h.magic) != 0) return ProfileErrc::NotAProfile;
  if (bytes.size() < sizeof h) return ProfileErrc::Truncated;
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.byte_order != SLUICE_PROFILE_BYTE_ORDER) return ProfileErrc::OtherByteOrder;
  if (h.layout_version < 1 || h.layout_compatible > h.layout_version) return ProfileErrc::Malformed;
  if (h.layout_compatible > SLUICE_PROFILE_VERSION) return ProfileErrc::Incompatible;
  if (size_of_file < h.file_size) return ProfileErrc::Truncated;
  if (!is_sound(h)) return ProfileErrc::Malformed;
  Header header;
  std::copy_n(h.tables, SLUICE_PROFILE_TABLES, header.layout.tables.begin());
  header.layout.file_size = h.file_size;
  header.layout.state_offset = h.state_offset;
  header.layout.state_size = h.state_size;
  header.generation = h.generation;
  header.writer_pid = h.writer_pid;
  header.started_at = h.started_at;
  return header;
}

}  // namespace sluice::profile
