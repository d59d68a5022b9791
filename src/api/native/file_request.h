// What requests about files have in common: ?path= and ?user=.
#pragma once

#include <string>

#include "api/file_transfer.h"
#include "api/handler.h"

namespace bj::native {

struct FileTarget {
  std::string path;
  std::string user;
};

Result<FileTarget> file_target(const HttpRequest& request);
// ?mode= of a new file, octal.
Result<unsigned> file_mode(const HttpRequest& request);

std::vector<ParameterDoc> file_parameters();

}  // namespace bj::native
