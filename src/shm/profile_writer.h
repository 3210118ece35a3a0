#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "profile/contents.h"
#include "profile/publisher.h"
#include "shm/descriptor.h"

namespace sluice::shm {

// The one writer of a profile's file.
//
// The file appears with the first publish(), complete: it is made under a temporary name, filled, and
// renamed. It is made anew, with another generation, when contents outgrow it or somebody has removed or cut
// it. An advisory lock on PATH.lock, held as long as the object lives, keeps a second writer away. The
// destructor marks the profile as closed and leaves it for readers, whose values go on ageing. Errors: open()
// and publish() say in `problem` what and why, with the path. After a failed publish() the next one
//         tries again.
// Thread: one at a time. publish() is O(contents) and does not wait for readers.
class ProfileWriter {
 public:
  struct Settings {
    std::string path;
    unsigned mode = 0644;  // permissions of the file, as chmod takes them
    profile::Nanos interval = std::chrono::seconds(1);

    friend bool operator==(const Settings&, const Settings&) = default;
  };

  static Result<ProfileWriter> open(Settings settings, std::string& problem);
  ProfileWriter(ProfileWriter&&) noexcept;
  ProfileWriter& operator=(ProfileWriter&&) = delete;
  ~ProfileWriter();

  const Settings& settings() const noexcept { return settings_; }
  // `contents_at`: when the values were gathered where they were measured.
  Result<void> publish(const profile::Contents& contents, profile::Moment contents_at, std::string& problem);
  // That the writer lives, without new contents; nothing before the first publish().
  void beat();

 private:
  class Mapping;

  ProfileWriter(Settings settings, Descriptor lock);
  Result<void> create(const profile::Capacities& capacities, std::string& problem);
  bool in_place() const noexcept;
  profile::Publisher::Beat beat_at(profile::Moment contents_at) const;

  Settings settings_;
  Descriptor lock_;
  std::unique_ptr<Mapping> mapping_;
  profile::Moment contents_at_{};
  std::uint64_t generation_ = 0;
};

}  // namespace sluice::shm
