#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice::cli {

// Exit codes of every command.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  // it was asked rightly and did not succeed
inline constexpr int kUsage = 2;    // it was asked wrongly: unknown command or option, missing argument

// What main runs once the whole command line has been read: the exit code is its result. An exception that
// leaves it is printed as one line and gives kFailure.
using Action = std::function<int()>;

// Each adds one command with its options to the application; its callback sets `action`.
// `command_line` is the program's own, with which it may start itself anew.
void add_router(CLI::App& app, Action& action, const std::vector<std::string>& command_line);
void add_placer(CLI::App& app, Action& action, const std::vector<std::string>& command_line);
void add_check(CLI::App& app, Action& action);
void add_decide(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_sim(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);

}  // namespace sluice::cli
