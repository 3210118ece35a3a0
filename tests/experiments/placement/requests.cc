// Sends requests of several kinds in one random order and prints how long each took.
//
// usage: requests SAMPLES WARM_UPS SEED kept|fresh LABEL=HOST:PORT/PATH ...
//
// Each kind, or arm, gets WARM_UPS requests, one arm after the other; then SAMPLES requests of every arm
// follow in the order that the seed gives, one at a time. Output: CSV with the columns label, host
// (X-Sluice-Host of the response), ms, and at_s (since the first). `kept`: over one connection to each
// HOST:PORT, as `sluice calibrate` does; `fresh`: each request opens its own.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include "sluice/rng.h"

#include "calibrate/failure.h"
#include "calibrate/http_client.h"

namespace sluice::calibrate {
namespace {

struct Arm {
  std::string label, path;
  HttpClient* client = nullptr;
};

using Clients = std::map<std::string, std::unique_ptr<HttpClient>>;  // by HOST:PORT

Arm parse_arm(const std::string& text, Clients& clients) {
  const std::size_t equals = text.find('='), slash = text.find('/', equals), colon = text.rfind(':', slash);
  if (equals == text.npos || slash == text.npos || colon == text.npos || colon < equals)
    throw Failure("not LABEL=HOST:PORT/PATH: " + text);
  const std::string host = text.substr(equals + 1, colon - equals - 1);
  const auto port = static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1, slash - colon - 1)));
  const std::string server = text.substr(equals + 1, slash - equals - 1);
  std::unique_ptr<HttpClient>& client = clients[server];
  if (client == nullptr) client = std::make_unique<HttpClient>(server, host, port, std::chrono::seconds(10));
  return {text.substr(0, equals), text.substr(slash), client.get()};
}

struct Asked {
  std::size_t samples = 0, warm_ups = 0;
  std::uint64_t seed = 1;
  HttpClient::Connections connections = HttpClient::Connections::Kept;
  Clients clients;
  std::vector<Arm> arms;
};

asio::awaitable<void> run(Asked* asked) {
  for (Arm& arm : asked->arms)
    for (std::size_t i = 0; i < asked->warm_ups; ++i)
      co_await arm.client->get(arm.path, asked->connections);
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < asked->arms.size(); ++a)
    order.insert(order.end(), asked->samples, a);
  Rng rng(asked->seed);
  shuffle(order, rng);
  const auto began = Clock::now();
  std::puts("label,host,ms,at_s");
  for (const std::size_t a : order) {
    Arm& arm = asked->arms[a];
    const double at = std::chrono::duration<double>(Clock::now() - began).count();
    const auto taken = co_await arm.client->get(arm.path, asked->connections);
    std::printf("%s,%s,%.6f,%.6f\n", arm.label.c_str(), arm.client->served_by().c_str(),
                std::chrono::duration<double, std::milli>(taken).count(), at);
  }
}

int main_with(int argc, char** argv) {
  if (argc < 6) throw Failure("usage: requests SAMPLES WARM_UPS SEED kept|fresh LABEL=HOST:PORT/PATH ...");
  Asked asked;
  asked.samples = std::stoul(argv[1]);
  asked.warm_ups = std::stoul(argv[2]);
  asked.seed = std::stoull(argv[3]);
  if (std::string(argv[4]) == "fresh") asked.connections = HttpClient::Connections::PerRequest;
  for (int i = 5; i < argc; ++i)
    asked.arms.push_back(parse_arm(argv[i], asked.clients));
  asio::io_context context(1);
  std::exception_ptr fault;
  asio::co_spawn(context, run(&asked), [&](std::exception_ptr e) { fault = std::move(e); });
  context.run();
  if (fault) std::rethrow_exception(fault);
  return 0;
}

}  // namespace
}  // namespace sluice::calibrate

int main(int argc, char** argv) {
  try {
    return sluice::calibrate::main_with(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "requests: %s\n", e.what());
    return 1;
  }
}
