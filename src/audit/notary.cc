#include "audit/notary.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cstdio>

#include "store/sql.h"
#include "sys/file_lock.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kMostBytes = 64 << 10;

// Of several processes one signs at a time: the file never goes back to an older head.
Result<Fd> lock(const std::string& directory) {
  BJ_TRY(Fd file, open_path(directory + "/audit.key", O_RDONLY | O_NOFOLLOW));
  BJ_CHECK(lock_file(file.get(), Lock::kAlone, directory + "/audit.key"));
  return file;
}

constexpr const char* kHead = "/audit.head";
constexpr const char* kTail = "/audit.tail";

enum class Reach {
  kOthers,
  kDisk
};  // who has it when it is written: whoever reads, or whatever happens to the machine

// Whole, or as it was: a head that is half there would look like an attack.
Result<void> replace(const std::string& path, const AuditCheckpointRow& head, Reach reach) {
  const std::string aside = path + ".new";
  {
    BJ_TRY(const Fd file, open_path(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    BJ_CHECK(write_all(file.get(), boost::json::serialize(head_json(head)) + "\n", aside));
    if (reach == Reach::kDisk && ::fsync(file.get()) != 0) return fail_errno("fsync(" + aside + ")");
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) return fail_errno("rename(" + path + ")");
  return {};
}

}  // namespace

Result<Notary> Notary::open(const std::string& data_directory) {
  BJ_TRY(SigningKey key, SigningKey::open(data_directory + "/audit.key"));
  return Notary(data_directory, std::move(key));
}

// The tail is not forced to the disk with every write: a machine that died may have left it empty.
Result<std::optional<AuditCheckpointRow>> Notary::read(const char* name) const {
  const Result<std::string> text = read_file(directory_ + name, kMostBytes);
  if (!text && text.error().code == Code::kNotFound) return std::nullopt;
  if (!text) return tl::unexpected(text.error());
  if (text->empty() && name == kTail) return std::nullopt;
  BJ_TRY(AuditCheckpointRow head, read_head(*text));
  return std::optional(std::move(head));
}

Result<std::optional<AuditCheckpointRow>> Notary::kept() const { return read(kHead); }

Result<std::optional<AuditCheckpointRow>> Notary::kept_end() const { return read(kTail); }

Result<void> Notary::replace_end(const AuditLink& end) const {
  BJ_TRY(const std::optional<AuditCheckpointRow> before, kept_end());
  if (before && before->sequence >= end.sequence) return {};
  BJ_TRY(const AuditCheckpointRow head, sign_head(key_, end, now_us()));
  return replace(directory_ + kTail, head, Reach::kOthers);
}

Result<void> Notary::keep_end(const AuditLink& end) const {
  BJ_TRY(const Fd held, lock(directory_));
  return replace_end(end);
}

Result<void> Notary::check_kept(AuditTable& table) const {
  for (const char* const name : {kHead, kTail}) {
    BJ_TRY(const std::optional<AuditCheckpointRow> last, read(name));
    if (!last) continue;
    const Result<AuditRow> event = table.get(last->sequence);
    if (!event && event.error().code != Code::kNotFound) return tl::unexpected(event.error());
    if (event && event->hash == last->hash) continue;
    return fail(Code::kConflict, "the audit in the database lacks the head that " + directory_ + name +
                                     " keeps: it was cut, changed or put back. `belljar audit verify` tells more; if "
                                     "it was done on purpose, remove audit.head and audit.tail there");
  }
  return {};
}

Result<AuditCheckpointRow> Notary::checkpoint(AuditTable& table) const {
  BJ_TRY(const Fd held, lock(directory_));
  BJ_CHECK(check_kept(table));
  BJ_TRY(const AuditEnds ends, table.ends());
  if (!ends.head) return fail(Code::kConflict, "the audit's head is missing from the database");
  BJ_TRY(AuditCheckpointRow head, sign_head(key_, *ends.head, now_us()));
  if (head.sequence == 0) return head;
  BJ_CHECK(table.add_checkpoint(head));
  BJ_CHECK(replace(directory_ + kHead, head, Reach::kDisk));
  BJ_CHECK(replace_end(*ends.head));
  return head;
}

}  // namespace bj
