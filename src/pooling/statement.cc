#include "pooling/statement.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "pooling/sql_classifier.h"

namespace sluice::pooling {
namespace {

// What a statement takes beside its body: object, control block, map node, name.
constexpr std::size_t kOverheadBytes = 256;
constexpr std::size_t kSweepStepBytes = 1024 * 1024;

std::size_t cost(const Statement& statement) {
  return statement.body().size() + kOverheadBytes;
}

}  // namespace

std::string_view Statement::sql() const noexcept {
  const std::string_view text = as_text(body_);
  return text.substr(0, text.find('\0'));
}

StatementPtr StatementStore::intern(ByteView body, std::uint32_t scope, Backslash backslash) {
  const auto found = statements_.find(Key{scope, as_text(body)});
  if (found != statements_.end()) return found->second;
  if (bytes_ >= std::max(sweep_at_, unused_bytes_max_)) sweep();
  const std::string_view text = as_text(body);
  auto made = std::make_shared<const Statement>(new_name(), Bytes(body.begin(), body.end()),
                                                classify(text.substr(0, text.find('\0')), backslash));
  statements_.emplace(Key{scope, as_text(made->body())}, made);
  bytes_ += cost(*made);
  return made;
}

std::string StatementStore::new_name() {
  std::string name(kNamePrefix);
  name += std::to_string(store_);
  name += '.';
  name += std::to_string(next_++);
  return name;
}

std::uint32_t StatementStore::scope(std::string_view text) {
  const auto found = scopes_.find(std::string(text));
  if (found != scopes_.end()) return found->second;
  const std::uint32_t number = next_scope_++;
  if (scopes_.size() < kScopesMax) scopes_.emplace(text, number);
  return number;
}

// Drops what nobody uses. Runs each time a quarter more than was left has come in, so that a text costs O(1).
void StatementStore::sweep() {
  std::erase_if(statements_, [this](const auto& item) {
    if (item.second.use_count() > 1) return false;
    bytes_ -= cost(*item.second);
    return true;
  });
  sweep_at_ = bytes_ + std::max(bytes_ / 4, kSweepStepBytes);
}

}  // namespace sluice::pooling
