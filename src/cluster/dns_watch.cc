#include "cluster/dns_watch.h"

#include <algorithm>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "net/resolve.h"
#include "telemetry/log.h"

namespace sluice::cluster {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> ordered(const std::vector<asio::ip::tcp::endpoint>& found, const std::string& name) {
  std::vector<asio::ip::address> addresses;
  for (const auto& end_point : found)
    addresses.push_back(end_point.address());
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  if (addresses.size() > DnsWatch::kAddressesMax) {
    log::warning("a name has more addresses than are used",
                 {{"name", name}, {"addresses", addresses.size()}, {"used", DnsWatch::kAddressesMax}});
    addresses.resize(DnsWatch::kAddressesMax);
  }
  std::vector<std::string> texts;
  for (const asio::ip::address& address : addresses)
    texts.push_back(address.to_string());
  return texts;
}

}  // namespace

// Shared with its coroutine, which ends after `removed`.
struct DnsWatch::Name {
  Name(const asio::any_io_executor& executor, std::string text) : host(std::move(text)), turn(executor) {}
  std::string host;
  Known known;
  asio::steady_timer turn;
  bool removed = false;
};

DnsWatch::DnsWatch(asio::any_io_executor executor, OnLookup on_lookup)
    : executor_(std::move(executor)), on_lookup_(std::move(on_lookup)), tasks_(executor_) {}
DnsWatch::~DnsWatch() = default;

void DnsWatch::configure(Settings settings) {
  settings_ = std::move(settings);
  auto before = std::exchange(names_, {});
  for (const std::string& host : settings_.names) {
    if (names_.contains(host)) continue;
    if (const auto kept = before.find(host); kept != before.end()) {
      names_.insert(before.extract(kept));
      names_.at(host)->turn.cancel();  // the times may be others
      continue;
    }
    auto added = std::make_shared<Name>(executor_, host);
    names_.emplace(host, added);
    tasks_.spawn("dns", watch(std::move(added)));
  }
  for (const auto& [host, gone] : before) {
    gone->removed = true;
    gone->turn.cancel();
  }
}

std::map<std::string, DnsWatch::Known> DnsWatch::known() const {
  std::map<std::string, Known> all;
  for (const auto& [host, name] : names_)
    all.emplace(host, name->known);
  return all;
}

asio::awaitable<void> DnsWatch::stop() {
  co_await tasks_.stop();
}

asio::awaitable<void> DnsWatch::watch(std::shared_ptr<Name> name) {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!name->removed && !tasks_.stopping()) {
    const auto found = co_await net::resolve(name->host, 0, settings_.timeout);
    if (name->removed || tasks_.stopping()) break;
    Known& known = name->known;
    known.next = Clock::now() + (found ? settings_.ttl : settings_.retry);
    if (found) {
      if (!known.problem.empty()) log::info("a name can be looked up again", {{"name", name->host}});
      known.problem.clear();
      known.answered = Clock::now();
      ++known.good;
      std::vector<std::string> addresses = ordered(*found, name->host);
      const bool changed = addresses != known.addresses;
      known.addresses = std::move(addresses);
      on_lookup_(true, changed);
    } else {
      ++known.failed;
      const std::string problem = found.error().code.message();
      if (problem != known.problem)
        log::warning("a name cannot be looked up",
                     {{"name", name->host},
                      {"reason", problem},
                      {"addresses", known.addresses.empty() ? "none are known" : "those before are kept"}});
      known.problem = problem;
      on_lookup_(false, false);
    }
    if (name->removed || tasks_.stopping()) break;
    name->turn.expires_at(known.next);
    co_await name->turn.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

}  // namespace sluice::cluster
