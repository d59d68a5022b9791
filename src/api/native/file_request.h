// What requests about files have in common: ?path= and ?user=.
#pragma once

#include <string>
#include <string_view>

#include "api/file_transfer.h"
#include "api/handler.h"

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

std::vector<ParameterDoc> file_parameters();

}  // namespace bj::native
