// The name of an image in a registry: "[host[:port]/]path[:tag][@sha256:digest]", as docker pull takes it. Without a
// host it is Docker Hub's, and there a single name is below "library/". Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

struct ImageReference {
  std::string registry;  // "registry-1.docker.io", "127.0.0.1:5000"
  std::string path;      // "library/python"
  std::string tag;       // "latest" unless it says something else; empty if there is a digest
  std::string digest;    // "sha256:...", or empty

  std::string wanted() const { return digest.empty() ? tag : digest; }
  std::string text() const;
};

// kInvalid, with a sentence.
Result<ImageReference> parse_image_reference(std::string_view text);
// "sha256:" and 64 hex digits.
bool is_sha256_digest(std::string_view text);

}  // namespace bj
