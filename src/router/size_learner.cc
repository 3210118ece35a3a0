#include "router/size_learner.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "router/random.h"
#include "sizes/fingerprint.h"
#include "trace/comment.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

// How old what is expected may be, beside the time between two exchanges.
constexpr auto kExpectationsAge = 400ms;
constexpr double kSizeMax = 1e6;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

SizeBook::SizeBook() {
  random_bytes(std::as_writable_bytes(std::span(secret_)));
}

void SizeBook::set_entries_max(std::size_t entries_max) {
  const std::lock_guard lock(mutex_);
  table_.set_entries_max(entries_max);
}

std::shared_ptr<const sizes::Expectations> SizeBook::exchange(const sizes::Batch& batch,
                                                              std::chrono::nanoseconds now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  table_.add(batch, now);
  return table_.expectations(now, kExpectationsAge);
}

std::vector<sizes::SizeRow> SizeBook::rows() const {
  const std::lock_guard lock(mutex_);
  return table_.rows();
}

std::size_t SizeBook::entries() const {
  const std::lock_guard lock(mutex_);
  return table_.size();
}

void SizeLearner::set_active(bool active) {
  active_ = active;
  if (active) return;
  batch_ = {};
  introduced_.clear();
  expectations_ = std::make_shared<const sizes::Expectations>();
}

sizes::Key SizeLearner::work_of(sizes::Key key, const sizes::OwnerView& owner,
                                std::optional<std::string_view> sql, bool escapes) {
  const std::uint64_t statement = sql ? sizes::fingerprint(*sql, escapes) : 0;
  const sizes::Key work = sizes::work_key(book_.secret(), key, statement);
  if (expectations_->contains(work) || batch_.introductions.size() >= kIntroductionsMax ||
      !introduced_.insert(work).second)
    return work;
  sizes::Introduction& introduction = batch_.introductions.emplace_back();
  introduction.key = work;
  introduction.owner = {std::string(owner.user), std::string(owner.database), owner.kind,
                        std::string(owner.label)};
  introduction.statement = statement;
  if (sql) introduction.outline = sizes::outline(*sql, kOutlineBytesMax, escapes);
  return work;
}

void SizeLearner::learn(sizes::Key work, std::chrono::nanoseconds service) {
  if (!active_) return;
  batch_.samples.push_back({work, seconds(service)});
  if (batch_.samples.size() < kSamplesMax) return;
  hand_over();
  batch_.samples.clear();
}

void SizeLearner::hand_over() {
  if (!active_) return;
  auto expectations = book_.exchange(batch_, std::chrono::steady_clock::now().time_since_epoch());
  if (!expectations) return;
  expectations_ = std::move(expectations);
  batch_.samples.clear();
  batch_.introductions.clear();
  introduced_.clear();
}

std::optional<double> SizeWatch::begin(std::optional<std::string_view> sql, bool escapes) {
  work_ = 0;
  if (!learns()) return given_;
  std::string route;
  if (sql && (trace::begins_with_comment(*sql) || trace::ends_with_comment(*sql)))
    route = trace::read_comments(*sql, *sql).route;
  const sizes::OwnerView owner =
      route.empty() ? sizes::OwnerView{user_, database_, sizes::Owner::Kind::Application, application_name_}
                    : sizes::OwnerView{user_, database_, sizes::Owner::Kind::Route, route};
  sizes::Key key = route.empty() ? key_ : 0;
  if (key == 0) key = learner_.key_of(owner);
  if (route.empty()) key_ = key;
  work_ = learner_.work_of(key, owner, sql, escapes);
  return given_ ? given_ : learner_.expected(work_);
}

void SizeWatch::end(std::chrono::nanoseconds service) {
  if (const sizes::Key work = std::exchange(work_, 0); work != 0 && service.count() > 0)
    learner_.learn(work, service);
}

std::optional<double> parse_size(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}};
  for (const auto& [name, factor] : kUnits)
    if (unit == name && value > 0 && value * factor <= kSizeMax) return value * factor;
  return std::nullopt;
}

}  // namespace sluice::router
