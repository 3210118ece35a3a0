#pragma once

#include <span>
#include <string_view>

// What npm's packages and the sources in this folder become at build time, as it stands in the program. Pure;
// all views are into static storage.
namespace sluice::web {

// One file that an admin port serves.
struct Asset {
  std::string_view path;          // "/dashboard", "/dashboard/main.js"
  std::string_view content_type;  // with the character set
  std::string_view gzip;          // the contents, compressed: to be sent with Content-Encoding: gzip
};

// All files, page by page. Empty in a program that was built without them (SLUICE_DASHBOARD=OFF).
std::span<const Asset> assets() noexcept;
const Asset* find_asset(std::string_view path) noexcept;  // nullptr when there is none

// The chart library, uPlot, for reports that hold all that they need: a script that defines the global
// `uPlot`, and its style sheet. Text in UTF-8, the licence included, that can stand between <script> and
// </script>, <style> and </style> as it is. Both empty in a program that was built without them.
std::string_view chart_script() noexcept;
std::string_view chart_style() noexcept;

}  // namespace sluice::web
