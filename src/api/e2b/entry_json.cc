// EntryInfo: what lies at a path, as E2B's clients read it.
#include <sys/stat.h>

#include "api/e2b/envd.h"
#include "api/time_text.h"
#include "base/utf8.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

const char* type_name(FileKind kind) {
  switch (kind) {
    case FileKind::kFile: return "FILE_TYPE_FILE";
    case FileKind::kDirectory: return "FILE_TYPE_DIRECTORY";
    case FileKind::kLink: return "FILE_TYPE_SYMLINK";
    case FileKind::kOther: break;
  }
  return "FILE_TYPE_UNSPECIFIED";
}

// As Go writes modes: letters for what it is, then nine of rwx.
std::string permissions_of(const FileInfo& info) {
  std::string text;
  if (info.kind == FileKind::kDirectory) text += 'd';
  if (info.kind == FileKind::kLink) text += 'L';
  if ((info.mode & S_ISUID) != 0) text += 'u';
  if ((info.mode & S_ISGID) != 0) text += 'g';
  if ((info.mode & S_ISVTX) != 0) text += 't';
  if (text.empty()) text += '-';
  constexpr std::string_view kLetters = "rwxrwxrwx";
  for (size_t i = 0; i < kLetters.size(); ++i) text += (info.mode >> (8 - i) & 1) != 0 ? kLetters[i] : '-';
  return text;
}

}  // namespace

json::object entry_json(const FileDetails& details) {
  const FileInfo& info = details.info;
  const bool link = info.kind == FileKind::kLink;
  const FileInfo& meant = details.target ? *details.target : info;
  json::object entry{{"name", valid_utf8(info.name)},       {"path", valid_utf8(info.path)},
                     {"size", std::to_string(info.size)},   {"mode", meant.mode & 0777},
                     {"permissions", permissions_of(info)}, {"owner", valid_utf8(details.owner)},
                     {"group", valid_utf8(details.group)},  {"modifiedTime", time_text(info.modified_us)}};
  if (!link || details.target) entry["type"] = type_name(meant.kind);
  if (link) entry["isSymlink"] = true;  // the type is that of what it leads to
  if (details.target) entry["symlinkTarget"] = valid_utf8(details.target_path);
  if (!details.notes.empty()) {
    json::object notes;
    for (const auto& [key, value] : details.notes) notes[valid_utf8(key)] = valid_utf8(value);
    entry["metadata"] = std::move(notes);
  }
  return entry;
}

}  // namespace bj::e2b
