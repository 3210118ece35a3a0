#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>

#include "cli/commands.h"
#include "mirror/mirror.h"
#include "net/task_group.h"
#include "profile/json.h"
#include "profile/report.h"
#include "shm/profile_reader.h"

namespace sluice::cli {
namespace {

constexpr const char* kDefaultPath = "/dev/shm/sluice.profile";

enum class Form { Tables, Json };

int print_profile(const std::string& path, Form form) {
  const auto profile = shm::ProfileReader(path).read();
  if (!profile) {
    std::cerr << "sluice: " << shm::profile_problem(path, profile.error()) << '\n';
    return kFailure;
  }
  const auto now = std::chrono::steady_clock::now();
  std::cout << (form == Form::Tables ? profile::report(*profile, now)
                                     : profile::to_json(*profile, now) + "\n")
            << std::flush;
  const profile::WriterState state = profile::writer_state(profile->publication, now);
  if (state != profile::WriterState::Alive)
    std::cerr << "sluice: " << path << ": its writer "
              << (state == profile::WriterState::Dead ? "is dead" : "has ended")
              << "; these are the last values, and they grow old\n";
  return std::cout ? kSuccess : kFailure;
}

asio::awaitable<void> stop_on_signal(asio::io_context& io, mirror::Mirror& mirror) {
  asio::signal_set signals(io, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  co_await mirror.stop();
}

struct MirrorArguments {
  std::string url, path, mode = "0644";
  unsigned interval_ms = 1000, timeout_ms = 2000;
};

int run_mirror(const MirrorArguments& given) {
  std::string problem;
  const auto source = mirror::Source::parse(given.url, problem);
  if (!source) {
    std::cerr << "sluice: " << given.url << ": " << problem << '\n';
    return kUsage;
  }
  mirror::Mirror::Settings settings;
  settings.from = *source;
  settings.to.path = given.path;
  settings.to.mode = static_cast<unsigned>(std::stoul(given.mode, nullptr, 8));
  settings.to.interval = std::chrono::milliseconds(given.interval_ms);
  settings.limits.timeout = std::chrono::milliseconds(given.timeout_ms);
  asio::io_context io(1);
  mirror::Mirror copy(io.get_executor(), std::move(settings));
  if (!copy.open(problem)) {
    std::cerr << "sluice: " << problem << '\n';
    return kFailure;
  }
  copy.start();
  net::TaskGroup tasks(io.get_executor());
  tasks.spawn("stop", stop_on_signal(io, copy));
  io.run();
  return kSuccess;
}

void add_printer(CLI::App& command, const char* name, const char* help, Form form, Action& action) {
  CLI::App* const printer = command.add_subcommand(name, help);
  const auto path = std::make_shared<std::string>(kDefaultPath);
  printer->add_option("path", *path, "The profile's file, profile_path of the router")->capture_default_str();
  printer->callback([&action, path, form] { action = [path, form] { return print_profile(*path, form); }; });
}

void add_mirror(CLI::App& command, Action& action) {
  CLI::App* const mirror =
      command.add_subcommand("mirror", "Copy the profile of a router elsewhere, until ended");
  const auto given = std::make_shared<MirrorArguments>();
  mirror->add_option("url", given->url, "Its HTTP admin, http://HOST:PORT")->required();
  mirror->add_option("--to", given->path, "The file to write, /dev/shm/sluice.profile for instance")
      ->required();
  mirror->add_option("--mode", given->mode, "Permissions of the file, in octal")
      ->capture_default_str()
      ->check([](const std::string& text) {
        const bool good = !text.empty() && text.size() <= 4 &&
                          text.find_first_not_of("01234567") == text.npos &&
                          std::stoul(text, nullptr, 8) <= 0777;
        return good ? std::string() : "permissions are octal, from 0000 to 0777";
      });
  mirror->add_option("--interval", given->interval_ms, "Milliseconds between two fetches")
      ->capture_default_str()
      ->check(CLI::Range(50u, 3600000u));
  mirror->add_option("--timeout", given->timeout_ms, "Milliseconds for one fetch")
      ->capture_default_str()
      ->check(CLI::Range(50u, 60000u));
  mirror->footer(
      "Values keep their ages: while the router does not answer, the copy grows old, and readers see it.");
  mirror->callback([&action, given] { action = [given] { return run_mirror(*given); }; });
}

}  // namespace

void add_profile(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("profile", "Look at the profile in shared memory, or copy one");
  command->require_subcommand(1);
  add_printer(*command, "show", "Print it as tables", Form::Tables, action);
  add_printer(*command, "export", "Print it as JSON", Form::Json, action);
  add_mirror(*command, action);
}

}  // namespace sluice::cli
