// Contents of files in and out of a sandbox, for every protocol: piece by piece, in constant memory, whatever their
// size.
#pragma once

#include <memory>
#include <tl/expected.hpp>

#include "api/handler.h"
#include "engine/sandbox_files.h"

namespace bj {

// A kernel's refusal of something inside is an answer to the caller: wrong, not broken.
Error from_inside(Error error);
template <class T>
Result<T> from_inside(Result<T> result) {
  if (result) return result;
  return tl::unexpected(from_inside(result.error()));
}

// Files, and what must live as long as they are used.
struct FilesInUse {
  std::shared_ptr<void> owner;
  SandboxFiles* files = nullptr;
};

// The file, or the part that the request's Range asks for (416: there is none), as a stream.
HttpResponse file_response(const HttpRequest& request, FilesInUse place, SandboxFiles::Opened opened);

// Takes the request's body in and writes it in large pieces. Its length, or the answer to a body that can't be read or
// kept.
Task<tl::expected<uint64_t, HttpResponse>> receive_file(HttpRequest& request, SandboxFiles& files,
                                                        const SandboxFiles::Opened& opened);

}  // namespace bj
