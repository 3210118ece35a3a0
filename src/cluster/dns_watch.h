#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "net/task_group.h"

namespace sluice::cluster {

// Looks names up again and again, each by itself, with the system's resolver (which gives no time to live:
// dns_max_ttl stands for it).
//  - A lookup that fails changes nothing: the addresses known before stay, and that is said once per reason.
//  - Addresses are numeric, ordered (IPv4 before IPv6, then by value), without doubles, at most
//  kAddressesMax.
// Thread: that of the executor. stop() before destruction.
class DnsWatch {
 public:
  static constexpr std::size_t kAddressesMax = 256;

  struct Settings {
    std::vector<std::string> names;
    std::chrono::milliseconds ttl{15'000};
    std::chrono::milliseconds retry{15'000};   // after a failure
    std::chrono::milliseconds timeout{5'000};  // of one lookup
  };
  struct Known {
    std::vector<std::string> addresses;
    std::string problem;  // of the last lookup; "": it succeeded
    std::optional<std::chrono::steady_clock::time_point> answered;
    std::chrono::steady_clock::time_point next{};  // when it is looked up again
    std::uint64_t good = 0, failed = 0;
  };
  // Called on the executor after each lookup: whether it was answered, and with other addresses than before.
  using OnLookup = std::function<void(bool answered, bool changed)>;

  DnsWatch(asio::any_io_executor executor, OnLookup on_lookup);
  DnsWatch(const DnsWatch&) = delete;
  DnsWatch& operator=(const DnsWatch&) = delete;
  ~DnsWatch();

  // Names that stay keep what is known of them.
  void configure(Settings settings);
  // By name.
  std::map<std::string, Known> known() const;
  asio::awaitable<void> stop();

 private:
  struct Name;
  asio::awaitable<void> watch(std::shared_ptr<Name> name);

  asio::any_io_executor executor_;
  OnLookup on_lookup_;
  Settings settings_;
  std::map<std::string, std::shared_ptr<Name>> names_;
  net::TaskGroup tasks_;
};

}  // namespace sluice::cluster
