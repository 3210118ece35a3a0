#include "placer/upstream_pool.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice::placer {
namespace {

// An idle connection gives its buffer back after this long.
constexpr std::chrono::milliseconds kParkAfter{1000};

}  // namespace

Upstream::Upstream(net::Stream stream, HostPtr host, UpstreamPool& pool, net::BufferPool& buffers)
    : host_(std::move(host)), pool_(pool), channel_(std::move(stream), buffers, this) {}

void Upstream::on_read(Channel&, std::error_code) {
  // Whatever came, nobody asked for it.
  pool_.died(*this);
}
void Upstream::on_writable(Channel&, std::error_code) {}
void Upstream::on_quiet(Channel&) {
  pool_.erase(*this);
}

UpstreamPool::~UpstreamPool() {
  SLUICE_ASSERT(all_.empty());
}

Upstream* UpstreamPool::take(const HostState& host, ChannelUser& user) {
  const auto found = idle_.find(&host);
  if (found == idle_.end()) return nullptr;
  std::vector<Upstream*>& idle = found->second;
  while (!idle.empty()) {
    Upstream& upstream = *idle.back();
    idle.pop_back();
    if (upstream.channel_.has_pending_or_eof()) {
      discard(upstream);
      continue;
    }
    ++upstream.uses_;
    upstream.channel_.set_user(&user);
    return &upstream;
  }
  return nullptr;
}

Upstream& UpstreamPool::add(net::Stream stream, HostPtr host, ChannelUser& user) {
  auto made = std::make_unique<Upstream>(std::move(stream), std::move(host), *this, buffers_);
  Upstream& upstream = *made;
  all_.emplace(&upstream, std::move(made));
  ++upstream.uses_;
  upstream.channel_.set_user(&user);
  return upstream;
}

void UpstreamPool::put(Upstream& upstream, std::size_t idle_max, Clock::time_point now) {
  std::vector<Upstream*>& idle = idle_[upstream.host_.get()];
  if (idle.size() >= idle_max) return discard(upstream);
  upstream.channel_.set_user(&upstream);
  upstream.idle_since_ = now;
  idle.push_back(&upstream);
  upstream.channel_.read();
}

void UpstreamPool::discard(Upstream& upstream) {
  upstream.channel_.set_user(&upstream);
  upstream.channel_.close();
  if (upstream.channel_.quiet()) erase(upstream);
}

void UpstreamPool::died(Upstream& upstream) {
  if (const auto found = idle_.find(upstream.host_.get()); found != idle_.end())
    std::erase(found->second, &upstream);
  discard(upstream);
}

void UpstreamPool::tick(Clock::time_point now, std::chrono::milliseconds idle_timeout) {
  for (auto at = idle_.begin(); at != idle_.end();) {
    std::vector<Upstream*>& idle = at->second;
    // The one that has been idle longest is at the front.
    while (!idle.empty() && now - idle.front()->idle_since_ > idle_timeout) {
      Upstream& upstream = *idle.front();
      idle.erase(idle.begin());
      discard(upstream);
    }
    for (Upstream* upstream : idle)
      if (now - upstream->idle_since_ > kParkAfter) upstream->channel_.park();
    at = idle.empty() ? idle_.erase(at) : std::next(at);
  }
}

void UpstreamPool::drop_idle(const HostState* host) {
  for (auto& [key, idle] : idle_) {
    if (host != nullptr && key != host) continue;
    for (Upstream* upstream : std::exchange(idle, {}))
      discard(*upstream);
  }
}

std::size_t UpstreamPool::idle_count() const noexcept {
  std::size_t count = 0;
  for (const auto& [host, idle] : idle_)
    count += idle.size();
  return count;
}

}  // namespace sluice::placer
