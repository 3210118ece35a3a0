#include "router/trace_recorder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include "decide/config_line.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

constexpr std::size_t kHashBytes = 8;  // that are shown of 32
constexpr std::size_t kHashesKept = 10'000;

std::chrono::microseconds in_microseconds(std::chrono::nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::microseconds>(span);
}

std::string numbered(const std::string& path, std::uint32_t number) {
  return number == 0 ? path : path + '.' + std::to_string(number);
}

}  // namespace

bool TraceRecorder::configure(const config::Config& config) {
  const config::Options& options = config.options;
  plain_names_ = options.record_trace_names == config::RecordedNames::Plain;
  files_ = options.record_trace_files;
  file_bytes_max_ = options.record_trace_file_size;
  std::string line = decide::config_line(config::pool_config(config));
  const recording::Queue queue{{},
                               options.queue_discipline == policy::QueueDiscipline::ShortestFirst
                                   ? recording::QueueOrder::ShortestFirst
                                   : recording::QueueOrder::Fcfs,
                               options.queue_ageing};
  const bool other_configuration = line != configuration_ || queue != queue_;
  configuration_ = std::move(line);
  queue_ = queue;
  if (options.record_trace != path_) {
    close();
    path_ = options.record_trace;
    if (!path_.empty()) begin_file();
  } else if (recording() && other_configuration) {
    note_configuration();
  }
  return recording();
}

bool TraceRecorder::accepts() noexcept {
  if (batches_.fetch_add(1, std::memory_order_relaxed) < kBatchesMax) return true;
  batches_.fetch_sub(1, std::memory_order_relaxed);
  lost_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// The oldest goes, the others move on by one.
void TraceRecorder::rotate() const {
  std::error_code ignored;
  for (std::uint32_t i = files_ - 1; i > 0; --i)
    std::filesystem::rename(numbered(path_, i - 1), numbered(path_, i), ignored);
}

void TraceRecorder::begin_file() {
  if (file_.is_open()) file_.close();
  rotate();
  // A trace may name users: for the owner alone.
  const int made = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (made < 0) return fail("cannot be opened");
  ::close(made);
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) return fail("cannot be opened");
  began_ = Clock::now();
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  writer_.begin_file(std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count());
  note_configuration();
  write();
}

void TraceRecorder::note_configuration() {
  const recording::Offset now = offset_of(Clock::now());
  writer_.add(recording::Configuration{now, configuration_});
  writer_.add(recording::Queue{now, queue_.order, queue_.ageing});
}

void TraceRecorder::fail(const char* what) {
  log::error("the recording of a trace ends",
             {{"file", path_}, {"reason", what}, {"error", std::strerror(errno)}});
  path_.clear();
  file_.close();
}

void TraceRecorder::write() {
  if (!writer_.has_bytes()) return;
  const Bytes bytes = writer_.take();
  file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file_) fail("cannot be written");
}

recording::Offset TraceRecorder::offset_of(Clock::time_point at) const {
  return in_microseconds(at - began_);
}

std::string TraceRecorder::hash_of(const std::string& name) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
           reinterpret_cast<const unsigned char*>(name.data()), name.size(), digest.data(),
           &length) == nullptr)
    return "?";
  std::string hex;
  for (std::size_t i = 0; i < kHashBytes; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 0xF];
  }
  return hex;
}

// A hash takes as long as all else about an admission: those of the names in use are kept.
const std::string& TraceRecorder::shown(const std::string& name) {
  if (plain_names_ || name.empty()) return name;
  if (hashes_.size() >= kHashesKept && !hashes_.contains(name)) hashes_.clear();
  const auto [place, is_new] = hashes_.try_emplace(name);
  if (is_new) place->second = hash_of(name);
  return place->second;
}

recording::Record TraceRecorder::admission_of(const RecordedEvent& event, const ReplicaName& replica_name) {
  using recording::NameKind;
  recording::Admission out;
  out.number = event.number;
  out.at = offset_of(event.at);
  out.waited = in_microseconds(event.first);
  out.transaction = event.kind == RecordedEvent::Kind::Transaction;
  if (event.second != kSizeUnknown) out.expected_size = in_microseconds(event.second);
  out.session_class = writer_.name(NameKind::Class, event.who->session_class);
  out.replica = writer_.name(NameKind::Replica, replica_name(event.replica));
  out.user = writer_.name(NameKind::User, shown(event.who->user));
  out.database = writer_.name(NameKind::Database, shown(event.who->database));
  if (!event.who->host.empty()) out.host = writer_.name(NameKind::Host, event.who->host);
  return out;
}

void TraceRecorder::take(const RecordedBatch& batch, const ReplicaName& replica_name) {
  batches_.fetch_sub(1, std::memory_order_relaxed);
  if (!recording()) return;
  if (writer_.file_bytes() >= file_bytes_max_) begin_file();
  for (std::size_t i = 0; i < batch.size();) {
    const RecordedEvent& event = batch[i++];
    switch (event.kind) {
      case RecordedEvent::Kind::Session:
      case RecordedEvent::Kind::Transaction:
        writer_.add(admission_of(event, replica_name));
        break;
      case RecordedEvent::Kind::Query: {
        recording::Queries queries{event.number,
                                   {{in_microseconds(event.first), in_microseconds(event.second)}}};
        while (i < batch.size() && batch[i].kind == RecordedEvent::Kind::Query &&
               batch[i].number == event.number && queries.queries.size() < recording::kQueriesMax) {
          queries.queries.push_back({in_microseconds(batch[i].first), in_microseconds(batch[i].second)});
          ++i;
        }
        writer_.add(queries);
        break;
      }
      case RecordedEvent::Kind::End:
        writer_.add(recording::End{event.number, offset_of(event.at)});
        break;
    }
  }
  if (recording()) write();
}

void TraceRecorder::flush() {
  if (const std::uint64_t lost = lost_.exchange(0, std::memory_order_relaxed); lost > 0)
    log::warning("parts of the trace are lost: the control thread is behind", {{"batches", lost}});
  if (!recording()) return;
  writer_.flush();
  write();
  if (recording() && !file_.flush()) fail("cannot be written");
}

void TraceRecorder::close() {
  flush();
  path_.clear();
  if (file_.is_open()) file_.close();
}

}  // namespace sluice::router
