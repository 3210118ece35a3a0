#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/buffer_pool.h"
#include "placer/channel.h"
#include "placer/host_state.h"

namespace sluice::placer {

class UpstreamPool;

// A connection to a compute host. While it is idle it reads, so that an end or a stray byte is seen at once
// and the connection thrown away; the very same read brings the next response.
class Upstream final : public ChannelUser {
 public:
  Upstream(net::Stream stream, HostPtr host, UpstreamPool& pool, net::BufferPool& buffers);

  Channel& channel() noexcept { return channel_; }
  const HostPtr& host() const noexcept { return host_; }
  bool used_before() const noexcept { return uses_ > 1; }

  void on_read(Channel& channel, std::error_code ec) override;
  void on_writable(Channel& channel, std::error_code ec) override;
  void on_quiet(Channel& channel) override;

 private:
  friend class UpstreamPool;
  HostPtr host_;
  UpstreamPool& pool_;
  Channel channel_;
  std::chrono::steady_clock::time_point idle_since_{};
  std::size_t uses_ = 0;
};

// The connections of one thread to the compute hosts: those that requests use, and those that wait for the
// next one.
class UpstreamPool {
 public:
  using Clock = std::chrono::steady_clock;

  explicit UpstreamPool(net::BufferPool& buffers) : buffers_(buffers) {}
  UpstreamPool(const UpstreamPool&) = delete;
  UpstreamPool& operator=(const UpstreamPool&) = delete;
  ~UpstreamPool();

  // The idle connection to the host that was used last; nullptr when there is none. It is the caller's, as
  // its user, until put() or discard(). The kernel is asked whether the other side has said anything or ended
  // it, which the event loop may have yet to tell: a late 408 must not be taken for the coming answer.
  Upstream* take(const HostState& host, ChannelUser& user);
  // A fresh one, in use.
  Upstream& add(net::Stream stream, HostPtr host, ChannelUser& user);

  // Whole response read, nothing left behind: for the next request. Beyond `idle_max` per host it is closed.
  void put(Upstream& upstream, std::size_t idle_max, Clock::time_point now);
  // Closes it. The object lives on until its operations have ended.
  void discard(Upstream& upstream);

  // To be called some times a second.
  void tick(Clock::time_point now, std::chrono::milliseconds idle_timeout);
  // Closes the idle ones, of one host or of all.
  void drop_idle(const HostState* host = nullptr);

  std::size_t size() const noexcept { return all_.size(); }
  std::size_t idle_count() const noexcept;

 private:
  friend class Upstream;
  void died(Upstream& upstream);
  void erase(Upstream& upstream) { all_.erase(&upstream); }

  net::BufferPool& buffers_;
  std::unordered_map<Upstream*, std::unique_ptr<Upstream>> all_;
  std::unordered_map<const HostState*, std::vector<Upstream*>> idle_;  // used last at the back
};

}  // namespace sluice::placer
