#include "images/image_reference.h"

#include <algorithm>

namespace bj {
namespace {

constexpr std::string_view kHub = "registry-1.docker.io";
constexpr size_t kLongestPath = 255, kLongestTag = 128, kDigestDigits = 64;

bool lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_host(std::string_view text) {
  return text == "localhost" || text.find('.') != std::string_view::npos || text.find(':') != std::string_view::npos;
}

// A name or an IPv4 address, and a port: what can stand in a URL and nothing else.
bool sound_host(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool named = !name.empty() && name.size() <= 253 && name.front() != '.' && name.front() != '-' &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
                     });
  if (!named || colon == std::string_view::npos) return named;
  const std::string_view port = text.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string_view::npos;
}

bool sound_path(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath) return false;
  size_t start = 0;
  while (start <= path.size()) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || !lower_or_digit(part.front()) || !lower_or_digit(part.back())) return false;
    if (part.find("..") != std::string_view::npos) return false;
    if (!std::all_of(part.begin(), part.end(),
                     [](char c) { return lower_or_digit(c) || c == '.' || c == '-' || c == '_'; }))
      return false;
    start = end + 1;
  }
  return true;
}

bool sound_tag(std::string_view tag) {
  return !tag.empty() && tag.size() <= kLongestTag && tag.front() != '.' && tag.front() != '-' &&
         std::all_of(tag.begin(), tag.end(), [](char c) {
           return lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
         });
}

tl::unexpected<Error> wrong(const char* what) {
  return fail(Code::kInvalid, std::string("an image is named [host[:port]/]path[:tag][@sha256:...]: ") + what);
}

}  // namespace

bool is_sha256_digest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + kDigestDigits) return false;
  return text.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

std::string ImageReference::text() const { return registry + "/" + path + (digest.empty() ? ":" + tag : "@" + digest); }

Result<ImageReference> parse_image_reference(std::string_view text) {
  ImageReference image;
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    image.digest = text.substr(at + 1);
    if (!is_sha256_digest(image.digest)) return wrong("the digest is not sha256: and 64 hexadecimal digits");
    text = text.substr(0, at);
  }
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos && is_host(text.substr(0, slash))) {
    image.registry = text.substr(0, slash);
    text = text.substr(slash + 1);
  }
  const size_t colon = text.find(':');
  image.path = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    image.tag = text.substr(colon + 1);
    if (!sound_tag(image.tag)) return wrong("the tag is not one");
  }
  if (image.registry.empty() || image.registry == "docker.io" || image.registry == "index.docker.io") {
    image.registry = kHub;
    if (image.path.find('/') == std::string::npos) image.path = "library/" + image.path;
  }
  if (!sound_host(image.registry)) return wrong("the registry is no host");
  if (!sound_path(image.path)) return wrong("the path is made of a-z, 0-9, '.', '-', '_' and '/'");
  if (!image.digest.empty()) image.tag.clear();
  if (image.digest.empty() && image.tag.empty()) image.tag = "latest";
  return image;
}

}  // namespace bj
