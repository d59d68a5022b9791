#include "store/image_uses.h"

namespace bj {
namespace {

constexpr std::string_view kPrefix = "\"image:";  // as control/template_content.h writes a root
constexpr size_t kDigest = 64;

void add_digests(const std::string& text, std::set<std::string>& digests) {
  for (size_t at = text.find(kPrefix); at != std::string::npos; at = text.find(kPrefix, at + 1)) {
    const std::string digest = text.substr(at + kPrefix.size(), kDigest);
    if (digest.size() == kDigest) digests.insert(digest);
  }
}

}  // namespace

Result<std::set<std::string>> used_images(Database& database) {
  std::set<std::string> digests;
  BJ_TRY(const Rows built, database.read("SELECT content FROM template_builds WHERE content LIKE '%\"image:%'"));
  for (const Row& row : built.rows) add_digests(row.text(0), digests);
  BJ_TRY(const Rows made, database.read("SELECT image, spare_image FROM sandboxes WHERE (image LIKE '%\"image:%' OR "
                                        "spare_image LIKE '%\"image:%') AND (kept = 1 OR state IN ('creating', "
                                        "'running', 'paused', 'stopping'))"));
  for (const Row& row : made.rows) {
    add_digests(row.text(0), digests);
    add_digests(row.text(1), digests);
  }
  return digests;
}

}  // namespace bj
