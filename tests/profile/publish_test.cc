#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "profile/profile_error.h"
#include "profile/publisher.h"
#include "profile/read_profile.h"
#include "tests/profile/c_reader.h"
#include "tests/profile/sample.h"

namespace sluice::profile {
namespace {

using namespace std::chrono_literals;

// Memory as a new file has it, with a publisher over it.
struct Segment {
  explicit Segment(Capacities capacities = {4, 4, 2, 4})
      : memory(Layout::of(capacities).file_size / 8),
        publisher(bytes(), capacities, {77, 4711, Moment{5s}, 99}) {}

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(memory)); }
  Result<Profile> read() {
    const auto header = read_header(bytes(), bytes().size());
    if (!header) return header.error();
    MappedRecords records(bytes());
    return read_profile(records, *header);
  }
  void publish(const Contents& contents, Moment now = Moment{10s}) {
    publisher.publish(contents, {now, 1234, now - 1s, 250ms});
  }
  sluice_profile_state* state() {
    return reinterpret_cast<sluice_profile_state*>(bytes().data() +
                                                   Layout::of(publisher.capacities()).state_offset);
  }
  template <class Record>
  Record* record(sluice_profile_table_index table, std::uint64_t index) {
    return reinterpret_cast<Record*>(bytes().data() +
                                     Layout::of(publisher.capacities()).record(table, index));
  }

  std::vector<std::uint64_t> memory;
  Publisher publisher;
};

std::error_code error_of(const Result<Profile>& result) {
  return result ? std::error_code() : result.error().code;
}

TEST(ProfileInMemory, IsReadBackAsItWasPublished) {
  Segment segment;
  segment.publish(sample_contents());
  const auto profile = segment.read();
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->contents, sample_contents());
  const Publication& p = profile->publication;
  EXPECT_EQ(p.generation, 77u);
  EXPECT_EQ(p.publications, 1u);
  EXPECT_EQ(p.writer_pid, 4711);
  EXPECT_EQ(p.started_at, Moment{5s});
  EXPECT_EQ(p.heartbeat, Moment{10s});
  EXPECT_EQ(p.contents_at, Moment{9s});
  EXPECT_EQ(p.interval, 250ms);
  EXPECT_FALSE(p.closed);
}

TEST(ProfileInMemory, FollowsChangesOfValuesAndOfLists) {
  Segment segment;
  segment.publish(sample_contents(1));
  segment.publish(sample_contents(2));
  EXPECT_EQ(segment.read()->contents, sample_contents(2));
  Contents fewer = sample_contents(3);
  fewer.hosts.pop_back();
  fewer.servers.erase(fewer.servers.begin());
  fewer.routes.clear();
  fit_matrices(fewer);
  segment.publish(fewer);
  EXPECT_EQ(segment.read()->contents, fewer);
  segment.publish(sample_contents(4));
  EXPECT_EQ(segment.read()->contents, sample_contents(4));
  segment.publish({});
  EXPECT_EQ(segment.read()->contents, Contents{});
}

TEST(ProfileInMemory, WritesOnlyRecordsThatChanged) {
  Segment segment;
  Contents contents = sample_contents();
  segment.publish(contents);
  const auto sequence = [&](std::uint64_t i) {
    return segment.record<sluice_profile_host>(SLUICE_PROFILE_HOSTS, i)->sequence;
  };
  const std::uint64_t first = sequence(0), second = sequence(1);
  contents.hosts[1].sessions += 1;
  segment.publish(contents);
  EXPECT_EQ(sequence(0), first);
  EXPECT_EQ(sequence(1), second + 2);
}

TEST(ProfileInMemory, KeepsOneShapeWhileNamesStay) {
  Segment segment;
  segment.publish(sample_contents(1));
  const std::uint64_t shape = segment.state()->shape;
  segment.publish(sample_contents(2));
  EXPECT_EQ(segment.state()->shape, shape);
  Contents renamed = sample_contents(2);
  std::swap(renamed.hosts[0], renamed.hosts[1]);
  segment.publish(renamed);
  EXPECT_EQ(segment.state()->shape, shape + 2);
}

TEST(ProfileInMemory, SaysWhenTheWriterBeatsAndCloses) {
  Segment segment;
  segment.publish(sample_contents());
  segment.publisher.beat({Moment{20s}, 0, Moment{9s}, 250ms});
  EXPECT_EQ(segment.read()->publication.heartbeat, Moment{20s});
  EXPECT_EQ(segment.read()->publication.publications, 1u);
  EXPECT_EQ(writer_state(segment.read()->publication, Moment{21s}), WriterState::Alive);
  segment.publisher.close({Moment{21s}, 0, Moment{9s}, 250ms});
  EXPECT_EQ(writer_state(segment.read()->publication, Moment{21s}), WriterState::Closed);
  EXPECT_EQ(segment.read()->contents, sample_contents());
}

TEST(ProfileInMemory, ReportsAWriterThatDiedWithinARecord) {
  Segment segment;
  segment.publish(sample_contents());
  auto* const host = segment.record<sluice_profile_host>(SLUICE_PROFILE_HOSTS, 1);
  host->sequence += 1;
  EXPECT_EQ(error_of(segment.read()), ProfileErrc::Busy);
  host->sequence += 1;
  EXPECT_EQ(error_of(segment.read()), std::error_code());
  segment.state()->sequence += 1;
  EXPECT_EQ(error_of(segment.read()), ProfileErrc::Busy);
}

TEST(ProfileInMemory, ReportsAWriterThatDiedWithinANewShape) {
  Segment segment;
  segment.publish(sample_contents());
  segment.state()->shape += 1;
  EXPECT_EQ(error_of(segment.read()), ProfileErrc::Busy);
}

TEST(ProfileInMemory, RefusesCountsBeyondTheCapacities) {
  Segment segment;
  segment.publish(sample_contents());
  segment.state()->route_count = 5;
  EXPECT_EQ(error_of(segment.read()), ProfileErrc::Malformed);
  segment.state()->route_count = 4;
  EXPECT_EQ(error_of(segment.read()), std::error_code());
  segment.state()->host_count = UINT64_MAX;
  EXPECT_EQ(error_of(segment.read()), ProfileErrc::Malformed);
}

TEST(ProfileInMemory, MakesHarmlessWhatNoWriterOfOursPuts) {
  Segment segment;
  segment.publish(sample_contents());
  auto* const host = segment.record<sluice_profile_host>(SLUICE_PROFILE_HOSTS, 0);
  std::memset(host->name, 'x', sizeof host->name);  // no end
  host->measured_at = INT64_MIN;
  host->client_leg = INT64_MAX;
  auto* const route = segment.record<sluice_profile_route>(SLUICE_PROFILE_ROUTES, 0);
  route->n_serial_p90 = std::numeric_limits<double>::quiet_NaN();
  route->untraced_share = 1e300;
  route->n_serial_calibrated = std::numeric_limits<double>::infinity();
  segment.record<sluice_profile_rtt>(SLUICE_PROFILE_RTT, 0)->source = 99;
  const auto profile = segment.read();
  ASSERT_TRUE(profile);
  const Contents& c = profile->contents;
  EXPECT_EQ(c.hosts[0].name.size(), 128u);
  EXPECT_GT(Moment{1h} - c.hosts[0].measured_at, 0ns) << "no overflow";
  EXPECT_EQ(c.routes[0].n_serial_p90, 0);
  EXPECT_EQ(c.routes[0].untraced_share, 1);
  EXPECT_EQ(c.routes[0].n_serial_calibrated, -1);
  EXPECT_EQ(c.rtt[0].source, Rtt::Source::None);
}

TEST(ProfileInMemory, CutsLongNamesBetweenCharacters) {
  Segment segment;
  Contents contents = sample_contents();
  contents.hosts[0].name =
      std::string(126, 'a') + "\xC3\xA4";  // an umlaut of two bytes, the second being the 128th
  contents.hosts[1].name = std::string(200, 'b');
  segment.publish(contents);
  const auto profile = segment.read();
  EXPECT_EQ(profile->contents.hosts[0].name, std::string(126, 'a'));
  EXPECT_EQ(profile->contents.hosts[1].name, std::string(127, 'b'));
}

TEST(ProfileInMemory, IsReadByC) {
  Segment segment;
  segment.publish(sample_contents());
  char name[128];
  std::int64_t median = 0;
  ASSERT_EQ(c_read_server(segment.bytes().data(), 1, name, &median), 1);
  EXPECT_STREQ(name, "r0");
  EXPECT_EQ(median, 4001);
  c_write_residual(segment.record<sluice_profile_residual>(SLUICE_PROFILE_RESIDUALS, 0), -5, 3);
  const auto profile = segment.read();
  EXPECT_EQ(profile->contents.residuals[0].residual, -5ns);
  EXPECT_EQ(profile->contents.residuals[0].samples, 3u);
}

// A layout of the future: every record has 16 bytes more, the header too, and there is a table more.
TEST(ProfileInMemory, OfALaterLayoutIsReadByWhatItSaysOfItself) {
  Segment now;
  now.publish(sample_contents());
  const Layout layout = Layout::of(now.publisher.capacities());
  sluice_profile_header h;
  std::memcpy(&h, now.bytes().data(), sizeof h);
  h.layout_version = 2;
  h.header_size += 64;
  h.state_offset += 64;
  h.state_size += 16;
  std::uint64_t end = h.state_offset + h.state_size;
  for (std::size_t i = 0; i < SLUICE_PROFILE_TABLES; ++i) {
    h.tables[i].offset = end;
    h.tables[i].record_size += 16;
    end += std::uint64_t{h.tables[i].record_size} * h.tables[i].capacity;
  }
  h.tables[SLUICE_PROFILE_TABLES] = {end, 64, 2};
  h.table_count += 1;
  h.file_size = end + 128;
  Bytes later(h.file_size, std::byte{0xEE});
  std::memcpy(later.data(), &h, sizeof h);
  std::memcpy(later.data() + h.state_offset, now.bytes().data() + layout.state_offset, layout.state_size);
  for (std::size_t t = 0; t < SLUICE_PROFILE_TABLES; ++t)
    for (std::uint64_t i = 0; i < h.tables[t].capacity; ++i)
      std::memcpy(later.data() + h.tables[t].offset + i * h.tables[t].record_size,
                  now.bytes().data() + layout.tables[t].offset + i * layout.tables[t].record_size,
                  layout.tables[t].record_size);
  const auto header = read_header(later, later.size());
  ASSERT_TRUE(header);
  MappedRecords records(later);
  const auto profile = read_profile(records, *header);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->contents, sample_contents());
}

}  // namespace
}  // namespace sluice::profile
