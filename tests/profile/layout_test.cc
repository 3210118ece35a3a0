#include "profile/layout.h"

#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "profile/profile_error.h"
#include "profile/publisher.h"
#include "tests/profile/c_reader.h"
#include "tests/profile/sample.h"

namespace sluice::profile {
namespace {

// The header of an empty profile.
sluice_profile_header sound_header() {
  Bytes memory(Layout::of({}).file_size);
  const Publisher publisher(memory, {}, {});
  sluice_profile_header h;
  std::memcpy(&h, memory.data(), sizeof h);
  return h;
}

std::error_code judged(const sluice_profile_header& h, std::uint64_t size) {
  const auto header = read_header({reinterpret_cast<const std::byte*>(&h), sizeof h}, size);
  return header ? std::error_code() : header.error().code;
}

std::error_code judged_after(const std::function<void(sluice_profile_header&)>& change) {
  sluice_profile_header h = sound_header();
  change(h);
  return judged(h, Layout::of({}).file_size);
}

using H = sluice_profile_header;

TEST(ProfileLayout, IsTheSameInC) {
  EXPECT_EQ(c_size_of_header(), sizeof(sluice_profile_header));
  EXPECT_EQ(c_size_of_host(), sizeof(sluice_profile_host));
  EXPECT_EQ(c_offset_of_untraced_share(), offsetof(sluice_profile_route, untraced_share));
}

TEST(ProfileLayout, GivesEachTableItsOwnAlignedRoom) {
  const Layout layout = Layout::of({3, 5, 2, 7});
  std::uint64_t end = layout.state_offset + layout.state_size;
  for (const sluice_profile_table& t : layout.tables) {
    EXPECT_EQ(t.offset, end);
    EXPECT_EQ(t.offset % 8, 0u);
    EXPECT_EQ(t.record_size % 8, 0u);
    end += std::uint64_t{t.record_size} * t.capacity;
  }
  EXPECT_EQ(layout.file_size, end);
  EXPECT_EQ(layout.table(SLUICE_PROFILE_RTT).capacity, 15u);
  EXPECT_EQ(layout.table(SLUICE_PROFILE_RESIDUALS).capacity, 21u);
  EXPECT_EQ(layout.table(SLUICE_PROFILE_SHARES).record_size, 48u);
}

TEST(ProfileLayout, GrowsByDoublingUntilTheContentsFit) {
  Contents c;
  c.hosts.resize(17);
  c.routes.resize(1025);
  const Capacities first;
  EXPECT_FALSE(first.hold(c));
  const Capacities grown = first.grown_for(c);
  EXPECT_EQ(grown, (Capacities{32, 16, 8, 2048}));
  EXPECT_TRUE(grown.hold(c));
}

TEST(ProfileHeader, IsReadBack) {
  const sluice_profile_header h = sound_header();
  const auto header = read_header({reinterpret_cast<const std::byte*>(&h), sizeof h}, h.file_size);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->layout.file_size, Layout::of({}).file_size);
  EXPECT_EQ(header->layout.record(SLUICE_PROFILE_HOSTS, 2), Layout::of({}).record(SLUICE_PROFILE_HOSTS, 2));
}

TEST(ProfileHeader, IsRefusedAtEveryLengthBelowItsOwn) {
  const sluice_profile_header h = sound_header();
  for (std::size_t size = 0; size < sizeof h; ++size) {
    const auto header = read_header({reinterpret_cast<const std::byte*>(&h), size}, size);
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().code, size < 8 ? ProfileErrc::NotAProfile : ProfileErrc::Truncated) << size;
  }
  EXPECT_EQ(judged(h, h.file_size - 1), ProfileErrc::Truncated);
  EXPECT_EQ(judged(h, h.file_size + 1), std::error_code());
}

TEST(ProfileHeader, SaysWhatIsWrongWithForeignFiles) {
  EXPECT_EQ(judged_after([](H& h) { h.magic[7] = 'X'; }), ProfileErrc::NotAProfile);
  EXPECT_EQ(judged_after([](H& h) { h.byte_order = 0x04030201; }), ProfileErrc::OtherByteOrder);
}

TEST(ProfileHeader, IsRefusedWhereItContradictsItself) {
  const std::function<void(H&)> changes[] = {
      [](H& h) { h.layout_version = 0; },
      [](H& h) { h.layout_compatible = 2; },  // above its own version
      [](H& h) { h.header_size = sizeof h - 8; },
      [](H& h) { h.header_size = UINT32_MAX; },
      [](H& h) { h.file_size = 8; },
      [](H& h) { h.table_count = SLUICE_PROFILE_TABLES - 1; },
      [](H& h) { h.table_count = SLUICE_PROFILE_TABLES_MAX + 1; },
      [](H& h) { h.state_offset = 4; },
      [](H& h) { h.state_offset += 4; },
      [](H& h) { h.state_offset = UINT32_MAX - 7; },
      [](H& h) { h.state_size = 8; },
      [](H& h) { h.state_size = UINT32_MAX - 7; },
      [](H& h) { h.tables[SLUICE_PROFILE_HOSTS].offset = UINT64_MAX - 7; },
      [](H& h) { h.tables[SLUICE_PROFILE_HOSTS].offset = 0; },
      [](H& h) { h.tables[SLUICE_PROFILE_HOSTS].offset += 1; },
      [](H& h) { h.tables[SLUICE_PROFILE_HOSTS].record_size -= 8; },
      [](H& h) { h.tables[SLUICE_PROFILE_HOSTS].record_size += 1; },
      [](H& h) { h.tables[SLUICE_PROFILE_HOSTS].record_size = UINT32_MAX - 7; },
      [](H& h) { h.tables[SLUICE_PROFILE_HOSTS].capacity = UINT32_MAX; },
      [](H& h) { h.tables[SLUICE_PROFILE_RTT].capacity -= 1; },
      [](H& h) { h.tables[SLUICE_PROFILE_RESIDUALS].capacity -= 1; },
      [](H& h) { h.tables[SLUICE_PROFILE_SHARES].capacity -= 1; },
      [](H& h) { h.tables[SLUICE_PROFILE_SHARES].record_size -= 8; },
  };
  int number = 0;
  for (const auto& change : changes)
    EXPECT_EQ(judged_after(change), ProfileErrc::Malformed) << "change " << number++;
}

TEST(ProfileHeader, OfALaterLayoutIsReadUnlessItSaysThatItCannotBe) {
  EXPECT_EQ(judged_after([](H& h) { h.layout_version = 9; }), std::error_code());
  EXPECT_EQ(judged_after([](H& h) { h.layout_version = 9, h.layout_compatible = 2; }),
            ProfileErrc::Incompatible);
  EXPECT_EQ(judged_after([](H& h) { h.table_count = SLUICE_PROFILE_TABLES + 1; }), std::error_code());
}

TEST(ProfileErrors, SayEachSomethingElse) {
  std::string last;
  for (const ProfileErrc e :
       {ProfileErrc::NotAProfile, ProfileErrc::OtherByteOrder, ProfileErrc::Incompatible,
        ProfileErrc::Truncated, ProfileErrc::Malformed, ProfileErrc::Busy}) {
    const std::string message = make_error_code(e).message();
    EXPECT_NE(message, last);
    EXPECT_NE(message, "unknown error");
    last = message;
  }
}

}  // namespace
}  // namespace sluice::profile
