#include "web/assets.h"

// Of a program that is built without npm.
namespace sluice::web {

std::span<const Asset> assets() noexcept {
  return {};
}

std::string_view chart_script() noexcept {
  return {};
}

std::string_view chart_style() noexcept {
  return {};
}

}  // namespace sluice::web
