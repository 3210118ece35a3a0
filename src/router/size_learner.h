#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sizes/size_table.h"

namespace sluice::router {

// What all threads together have learned of sizes. Any thread; each takes its lock about twice a second, if
// nobody else has it.
class SizeBook {
 public:
  SizeBook();

  // That its keys are made with, of this process.
  const sizes::Secret& secret() const noexcept { return secret_; }
  // Of the table; 0: nothing is learned.
  void set_entries_max(std::size_t entries_max);
  // Takes in what one thread has seen; gives what is expected by now. nullptr, and nothing is taken, while
  // another has the book: rows() takes a moment, for which no thread waits.
  std::shared_ptr<const sizes::Expectations> exchange(const sizes::Batch& batch,
                                                      std::chrono::nanoseconds now);
  std::vector<sizes::SizeRow> rows() const;
  std::size_t entries() const;

 private:
  sizes::Secret secret_;
  mutable std::mutex mutex_;
  sizes::SizeTable table_{0};
};

// One thread's part in it. Nothing here is shared while a transaction begins or ends.
class SizeLearner {
 public:
  explicit SizeLearner(SizeBook& book) : book_(book) {}

  // Whether there is anything to learn for.
  void set_active(bool active);
  bool active() const noexcept { return active_; }

  sizes::Key key_of(const sizes::OwnerView& owner) const noexcept {
    return sizes::owner_key(book_.secret(), owner);
  }
  // The key of the owner's work that begins with `sql`; without one: of its sessions. New kinds of work are
  // made known to the book. `key`: the owner's; `escapes`: as for sizes::fingerprint().
  sizes::Key work_of(sizes::Key key, const sizes::OwnerView& owner, std::optional<std::string_view> sql,
                     bool escapes);
  std::optional<double> expected(sizes::Key work) const noexcept { return expectations_->expected(work); }
  void learn(sizes::Key work, std::chrono::nanoseconds service);
  // Exchanges what is known with the book, if that is free.
  void hand_over();

 private:
  // With so many samples what is known is exchanged at once, whatever the time, or they are dropped if the
  // book is not free; beyond so many new kinds, they are not made known yet.
  static constexpr std::size_t kSamplesMax = 4096;
  static constexpr std::size_t kIntroductionsMax = 512;
  static constexpr std::size_t kOutlineBytesMax = 120;

  SizeBook& book_;
  bool active_ = false;
  std::shared_ptr<const sizes::Expectations> expectations_ = std::make_shared<const sizes::Expectations>();
  sizes::Batch batch_;
  std::unordered_set<sizes::Key> introduced_;  // in batch_
};

// What the work of one session is expected to be, and what it came to. Thread: the session's.
class SizeWatch {
 public:
  // All outlive it, and stay as they are once it has begun.
  SizeWatch(SizeLearner& learner, const std::string& user, const std::string& database,
            const std::string& application_name) noexcept
      : learner_(learner), user_(user), database_(database), application_name_(application_name) {}

  // The size that the session itself was trusted to say: it is expected of all its work.
  void give(double seconds) noexcept { given_ = seconds; }
  std::optional<double> given() const noexcept { return given_; }
  // Whether begin() and end() are of any use.
  bool learns() const noexcept { return learner_.active(); }

  // The expected size of the work that now begins: of a transaction, by its first statement, which may name a
  // route; or of the session. `escapes`: a backslash escapes in '...'.
  std::optional<double> begin(std::optional<std::string_view> sql, bool escapes = false);
  // That work took so long; once for each begin(), or never. No time at all is none that it took.
  void end(std::chrono::nanoseconds service);

 private:
  SizeLearner& learner_;
  const std::string& user_;
  const std::string& database_;
  const std::string& application_name_;
  sizes::Key key_ = 0;   // of the owner, once it was needed
  sizes::Key work_ = 0;  // 0: nothing is being learned
  std::optional<double> given_;
};

// What sluice.size says, in seconds, or with ms, us or s behind; nothing for what is no size.
std::optional<double> parse_size(std::string_view text);

}  // namespace sluice::router
