#include "demo/load.h"

namespace sluice::demo {
namespace {

constexpr std::string_view kScript = R"(\set account random(1, 100000)
\set place random(1, 2)
\set think random(2, 12)
SELECT demo_query(:account, :place);
\sleep :think ms
)";

}  // namespace

Load::Load(Settings settings, const Folder& folder) : settings_(std::move(settings)), folder_(folder) {
  folder_.write("load.sql", std::string(kScript));
}

void Load::start(const Wave& wave) {
  const User& user = settings_.users.at(wave.class_index);
  Command command;
  command.argv = {settings_.programs + "/pgbench",
                  "-n",
                  "-M",
                  "prepared",
                  "-f",
                  "load.sql",
                  "-c",
                  std::to_string(wave.sessions),
                  "-T",
                  std::to_string(wave.length.count()),
                  "-h",
                  "127.0.0.1",
                  "-p",
                  std::to_string(settings_.port),
                  "-U",
                  user.name,
                  settings_.database};
  command.directory = folder_.path();
  command.log = folder_.file("pgbench-" + user.name + ".log");
  command.environment = {{"PGPASSWORD", user.password}, {"PGAPPNAME", "demo-load"}};
  running_.push_back({Child(command), command.log});
  ++runs_;
}

void Load::advance(Clock::time_point now) {
  std::erase_if(running_, [&](Run& run) {
    const auto status = run.process.status();
    if (status.value_or(0) != 0 && failed_runs_++ == 0) first_failure_ = end_of_log(run.log);
    return status.has_value();
  });
  const Millis until = time(now);
  for (const Wave& wave : waves_between(planned_until_, until))
    start(wave);
  planned_until_ = std::max(planned_until_, until);
}

void Load::stop() {
  for (Run& run : running_)
    run.process.signal(SIGTERM);
  for (Run& run : running_)
    run.process.stop(SIGTERM, std::chrono::milliseconds(500));
  running_.clear();
}

}  // namespace sluice::demo
