#include "audit/notary.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cstdio>

#include "store/sql.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kMostBytes = 64 << 10;

// Of several processes one signs at a time: the file never goes back to an older head.
Result<Fd> lock(const std::string& directory) {
  BJ_TRY(Fd file, open_path(directory + "/audit.key", O_RDONLY | O_NOFOLLOW));
  if (::flock(file.get(), LOCK_EX) != 0) return fail_errno("flock(" + directory + "/audit.key)");
  return file;
}

// Whole and on the disk, or as it was: a head that is half there would look like an attack.
Result<void> replace_durably(const std::string& path, std::string_view text) {
  const std::string aside = path + ".new";
  {
    BJ_TRY(const Fd file, open_path(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    BJ_CHECK(write_all(file.get(), text, aside));
    if (::fsync(file.get()) != 0) return fail_errno("fsync(" + aside + ")");
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) return fail_errno("rename(" + path + ")");
  return {};
}

}  // namespace

Result<Notary> Notary::open(const std::string& data_directory) {
  BJ_TRY(SigningKey key, SigningKey::open(data_directory + "/audit.key"));
  return Notary(data_directory, std::move(key));
}

Result<std::optional<AuditCheckpointRow>> Notary::kept() const {
  Result<std::string> text = read_file(directory_ + "/audit.head", kMostBytes);
  if (!text && text.error().code == Code::kNotFound) return std::nullopt;
  if (!text) return tl::unexpected(text.error());
  BJ_TRY(AuditCheckpointRow head, read_head(*text));
  return std::optional(std::move(head));
}

Result<void> Notary::check_kept(AuditTable& table) const {
  BJ_TRY(const std::optional<AuditCheckpointRow> last, kept());
  if (!last) return {};
  const Result<AuditRow> event = table.get(last->sequence);
  if (!event && event.error().code != Code::kNotFound) return tl::unexpected(event.error());
  if (event && event->hash == last->hash) return {};
  return fail(Code::kConflict, "the audit in the database lacks the head that " + directory_ +
                                   "/audit.head keeps: it was cut, changed or put back. `belljar audit verify` tells "
                                   "more; if it was done on purpose, remove that file");
}

Result<AuditCheckpointRow> Notary::checkpoint(AuditTable& table) const {
  BJ_TRY(const Fd held, lock(directory_));
  BJ_CHECK(check_kept(table));
  BJ_TRY(const AuditEnds ends, table.ends());
  if (!ends.head) return fail(Code::kConflict, "the audit's head is missing from the database");
  BJ_TRY(AuditCheckpointRow head, sign_head(key_, *ends.head, now_us()));
  if (head.sequence == 0) return head;
  BJ_CHECK(table.add_checkpoint(head));
  BJ_CHECK(replace_durably(directory_ + "/audit.head", boost::json::serialize(head_json(head)) + "\n"));
  return head;
}

}  // namespace bj
