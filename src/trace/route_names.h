#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "trace/call.h"
#include "trace/comment.h"

namespace sluice::trace {

// The routes that comments of one thread's sessions named lately, by how they are written there: a route that
// is seen again is neither decoded nor copied, and all sessions share its name.
// Shape:  a cache of kPlaces; of two routes that fall on one place the later one stays. At most kPlaces times
//         kWrittenMax bytes and a name each, whatever clients write.
// Thread: one.
class RouteNames {
 public:
  static constexpr std::size_t kPlaces = 256;
  // What is written longer than this is too long for a route, however it is encoded.
  static constexpr std::size_t kWrittenMax = 3 * kRouteBytesMax;

  // Null for what names no route.
  RouteName of(const WrittenTags& tags);

 private:
  struct Place {
    std::string written, action;
    RouteName name;
  };
  RouteName of(std::string_view written, std::string_view action);

  std::array<Place, kPlaces> places_;
};

}  // namespace sluice::trace
