// What requests about files have in common: ?path= and ?user=, and failures that are the sandbox's, not ours.
#pragma once

#include <string>

#include "api/handler.h"
#include "engine/sandbox_files.h"

namespace bj::native {

struct FileTarget {
  std::string path;
  std::string user;
};

Result<FileTarget> file_target(const HttpRequest& request);

// A kernel's refusal of something inside is an answer to the caller: wrong, not broken.
Error from_inside(Error error);
template <class T>
Result<T> from_inside(Result<T> result) {
  if (result) return result;
  return tl::unexpected(from_inside(result.error()));
}

std::vector<ParameterDoc> file_parameters();

}  // namespace bj::native
