// What requests about files have in common: ?path= and ?user=.
#pragma once

#include <string>
#include <string_view>

#include "api/file_transfer.h"
#include "api/handler.h"
#include "api/route_group.h"

namespace bj::native {

struct FileTarget {
  std::string path;
  std::string user;
};

Result<FileTarget> file_target(const HttpRequest& request);
// The same place, without "." and doubled slashes: for answers that tell paths below it.
std::string plain_path(std::string_view path);
// ?mode= of a new file, octal.
Result<unsigned> file_mode(const HttpRequest& request);

// Of a route: these, and others by their names.
RouteExtras file_extras(std::initializer_list<const char*> names);
// The routes to a file's contents.
RouteOptions reading_route(const char* tag);
RouteOptions writing_route(const char* tag);

}  // namespace bj::native
