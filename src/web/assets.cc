#include "web/assets.h"

#include <algorithm>

namespace sluice::web {

const Asset* find_asset(std::string_view path) noexcept {
  const auto all = assets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Asset& asset) { return asset.path == path; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace sluice::web
