#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "recording/trace_writer.h"
#include "router/recording_batch.h"

namespace sluice::router {

// Writes what all threads record to trace files: record_trace is the one in progress, record_trace.1 the one
// before it, and so on. On the control thread, but for accepts(). A file that cannot be written ends the
// recording, with a line in the log; a reload tries again.
class TraceRecorder {
 public:
  using Clock = std::chrono::steady_clock;
  using ReplicaName = std::function<std::string(policy::ReplicaId)>;
  // Batches that may wait for the control thread.
  static constexpr std::size_t kBatchesMax = 64;

  // `secret` makes hashes of names that are alike within this process's traces and mean nothing outside.
  explicit TraceRecorder(std::array<std::byte, 32> secret) : secret_(secret) {}

  // Begins, ends, or notes that the configuration is another. True while it records. Paths that cannot be
  // written are tried again by each.
  bool configure(const config::Config& config);
  bool recording() const noexcept { return !path_.empty(); }
  // Any thread: whether a batch may be posted for take().
  bool accepts() noexcept;
  void take(const RecordedBatch& batch, const ReplicaName& replica_name);
  // About once a second: what has come so far is in the file.
  void flush();
  // Flushes and ends.
  void close();

 private:
  void begin_file(std::chrono::seconds before);
  void rotate() const;
  void note_configuration(recording::Offset at);  // and the queue
  void write();
  void fail(const char* what);
  recording::Offset offset_of(Clock::time_point at) const;
  std::string hash_of(const std::string& name) const;
  const std::string& shown(const std::string& name);
  recording::Who who_of(const RecordedWho& who);
  recording::NameId replica_of(const RecordedEvent& event, const ReplicaName& replica_name);
  using Queries = std::span<const RecordedQuery>;
  void add_whole(const RecordedEvent& event, recording::NameId replica, Queries queries);
  void add_admission(const RecordedEvent& event, recording::NameId replica);
  void add_queries(const RecordedEvent& event, Queries queries);

  const std::array<std::byte, 32> secret_;
  recording::TraceWriter writer_;
  std::string path_;  // empty: nothing is recorded
  bool plain_names_ = false;
  std::uint32_t files_ = 1;
  std::uint64_t file_bytes_max_ = 0;
  std::string configuration_;  // as a decide event
  recording::Queue queue_;
  std::unordered_map<std::string, std::string> hashes_;  // of names
  // As the file has them, of the batch at work: by their places in it, and by the replicas' own ids.
  std::vector<recording::Who> who_;
  std::vector<std::optional<recording::NameId>> replicas_;
  recording::Whole whole_;  // the room for its queries stays
  std::ofstream file_;
  Clock::time_point began_{};
  std::atomic<std::size_t> batches_{0};  // on their way
  std::atomic<std::uint64_t> lost_{0};   // batches, since the last line in the log
};

}  // namespace sluice::router
