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
// What threads hand over was noted in the half second before, or a little earlier.
constexpr std::chrono::seconds kNotedBefore{1};

std::chrono::microseconds in_microseconds(std::chrono::nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::microseconds>(span);
}

recording::Query in_microseconds(const RecordedQuery& query) {
  return {in_microseconds(query.pause), in_microseconds(query.response)};
}

std::optional<std::chrono::microseconds> expected_size_of(const RecordedEvent& event) {
  if (event.expected == kSizeUnknown) return std::nullopt;
  return in_microseconds(event.expected);
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
    if (!path_.empty()) begin_file(std::chrono::seconds(0));
  } else if (recording() && other_configuration) {
    note_configuration(offset_of(Clock::now()));
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

// `before`: as if it had been begun so long ago.
void TraceRecorder::begin_file(std::chrono::seconds before) {
  if (file_.is_open()) {
    writer_.flush();
    write();
    if (!recording()) return;
    file_.close();
  }
  rotate();
  // A trace may name users: for the owner alone.
  const int made = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (made < 0) return fail("cannot be opened");
  ::close(made);
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) return fail("cannot be opened");
  began_ = Clock::now() - before;
  const auto since_epoch = (std::chrono::system_clock::now() - before).time_since_epoch();
  writer_.begin_file(std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count());
  note_configuration(recording::Offset(0));
  write();
}

void TraceRecorder::note_configuration(recording::Offset at) {
  writer_.add(recording::Configuration{at, configuration_});
  writer_.add(recording::Queue{at, queue_.order, queue_.ageing});
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

recording::Who TraceRecorder::who_of(const RecordedWho& who) {
  using recording::NameKind;
  recording::Who out;
  out.session_class = writer_.name(NameKind::Class, who.session_class);
  out.user = writer_.name(NameKind::User, shown(who.user));
  out.database = writer_.name(NameKind::Database, shown(who.database));
  if (!who.host.empty()) out.host = writer_.name(NameKind::Host, who.host);
  out.id = writer_.who(out);
  return out;
}

// Looked up once a batch: for each event it would take longer than all else.
recording::NameId TraceRecorder::replica_of(const RecordedEvent& event, const ReplicaName& replica_name) {
  const std::size_t place = event.replica.value();
  if (place >= replicas_.size()) replicas_.resize(place + 1);
  if (!replicas_[place])
    replicas_[place] = writer_.name(recording::NameKind::Replica, replica_name(event.replica));
  return *replicas_[place];
}

// Who asked before the file began has waited since then. Spans are those between moments in whole
// microseconds, so that they add up to the end, and nothing is left over for the tail of one that ended with
// its last answer.
void TraceRecorder::add_whole(const RecordedEvent& event, recording::NameId replica, Queries queries) {
  Clock::time_point moment = std::max(event.at, began_);
  recording::Offset before = offset_of(moment);
  const auto until = [&](Clock::time_point next) {
    moment = next;
    const recording::Offset now = offset_of(next);
    return now - std::exchange(before, now);
  };
  whole_.at = before;
  whole_.waited = until(event.at + event.waited);
  whole_.transaction = event.of == RecordedKind::Transaction;
  whole_.who = who_[event.who].id;
  whole_.replica = replica;
  whole_.expected_size = expected_size_of(event);
  whole_.queries.clear();
  for (const RecordedQuery& query : queries) {
    const recording::Offset pause = until(moment + query.pause);
    whole_.queries.push_back({pause, until(moment + query.response)});
  }
  whole_.tail = until(event.ended);
  writer_.add(whole_);
}

void TraceRecorder::add_admission(const RecordedEvent& event, recording::NameId replica) {
  const recording::Who& who = who_[event.who];
  recording::Admission out;
  out.number = event.number;
  out.at = offset_of(std::max(event.at, began_));
  out.waited = offset_of(event.at + event.waited) - out.at;
  out.transaction = event.of == RecordedKind::Transaction;
  out.session_class = who.session_class;
  out.replica = replica;
  out.host = who.host;
  out.user = who.user;
  out.database = who.database;
  out.expected_size = expected_size_of(event);
  writer_.add(out);
}

void TraceRecorder::add_queries(const RecordedEvent& event, Queries queries) {
  recording::Queries out{event.number, {}};
  out.queries.reserve(queries.size());
  for (const RecordedQuery& query : queries)
    out.queries.push_back(in_microseconds(query));
  writer_.add(out);
}

void TraceRecorder::take(const RecordedBatch& batch, const ReplicaName& replica_name) {
  batches_.fetch_sub(1, std::memory_order_relaxed);
  if (!recording()) return;
  if (writer_.file_bytes() >= file_bytes_max_) begin_file(kNotedBefore);
  if (!recording()) return;
  replicas_.clear();
  who_.clear();
  for (const auto& who : batch.who)
    who_.push_back(who_of(*who));
  Queries rest = batch.queries;
  for (const RecordedEvent& event : batch.events) {
    const Queries queries = rest.first(event.query_count);
    rest = rest.subspan(event.query_count);
    const bool admits =
        event.kind == RecordedEvent::Kind::Whole || event.kind == RecordedEvent::Kind::Admission;
    if (admits && event.at + event.waited < began_) continue;  // what comes of it is then passed over
    switch (event.kind) {
      case RecordedEvent::Kind::Whole:
        add_whole(event, replica_of(event, replica_name), queries);
        break;
      case RecordedEvent::Kind::Admission:
        add_admission(event, replica_of(event, replica_name));
        break;
      case RecordedEvent::Kind::Queries:
        add_queries(event, queries);
        break;
      case RecordedEvent::Kind::End:
        writer_.add(recording::End{event.number, offset_of(event.ended)});
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
