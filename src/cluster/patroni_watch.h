#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "cluster/patroni.h"
#include "mirror/source.h"
#include "net/task_group.h"
#include "net/tls_context.h"

namespace sluice::cluster {

// Asks Patroni on a timer who is in the cluster.
//  - The addresses are tried in turn, beginning with the one that answered last; the first good answer
//  counts.
//  - While none answers, the last view stays, and that is said: in the log, once per reason, and by status().
// Thread: that of the executor. stop() before destruction.
class PatroniWatch {
 public:
  struct Settings {
    std::vector<mirror::Source> from;            // empty: nobody is asked, and nothing is known
    std::shared_ptr<const net::TlsContext> tls;  // for the sources that want it
    std::chrono::milliseconds interval{1'000};
    std::chrono::milliseconds timeout{1'000};  // of each address
  };
  struct Status {
    std::uint64_t good = 0, failed = 0;  // questions, all addresses together
    std::string source;                  // the address that answered last
    std::string problem;                 // of the last question; "": it was answered
    std::optional<std::chrono::steady_clock::time_point> answered;
  };
  // Called on the executor with each good answer, the same ones too.
  using OnView = std::function<void(const ClusterView&)>;
  using OnProblem = std::function<void()>;

  PatroniWatch(asio::any_io_executor executor, OnView on_view, OnProblem on_problem);
  PatroniWatch(const PatroniWatch&) = delete;
  PatroniWatch& operator=(const PatroniWatch&) = delete;

  // Asks at once. Other addresses than before: what the old ones said is forgotten.
  void configure(Settings settings);
  void ask_now();  // where something looks wrong; at most kHurryMin after the last question
  static constexpr std::chrono::milliseconds kHurryMin{100};

  const Status& status() const noexcept { return status_; }
  asio::awaitable<void> stop();

 private:
  asio::awaitable<void> run();
  asio::awaitable<std::optional<ClusterView>> ask();
  void tell(std::optional<ClusterView> view);

  asio::any_io_executor executor_;
  OnView on_view_;
  OnProblem on_problem_;
  Settings settings_;
  Status status_;
  std::string found_wrong_;  // by the question in progress
  std::size_t first_ = 0;    // address to begin with
  bool running_ = false, hurried_ = false;
  std::uint64_t generation_ = 0;  // of the settings
  asio::steady_timer turn_;
  net::TaskGroup tasks_;
};

}  // namespace sluice::cluster
