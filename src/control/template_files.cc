#include "control/template_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "sys/files.h"

namespace bj {

bool is_files_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

TemplateFiles::Upload::~Upload() {
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

Result<void> TemplateFiles::Upload::write(std::string_view piece) {
  if (piece.size() > owner_.most_bytes_ - size_)
    return fail(Code::kExhausted, "an organization's uploaded files may take " +
                                      std::to_string(owner_.most_bytes_ >> 20) + " MiB together");
  size_ += piece.size();
  return write_all(file_.get(), piece, "an upload");
}

Result<void> TemplateFiles::Upload::finish() {
  if (::rename(partial_.c_str(), (directory_ + "/" + name_).c_str()) != 0) return fail_errno("rename(upload)");
  partial_.clear();
  owner_.drop_oldest(directory_);
  return {};
}

bool TemplateFiles::has(const std::string& organization, const std::string& hash) const {
  struct stat info{};
  return is_files_hash(hash) && ::stat((directory_ + "/" + organization + "/" + hash).c_str(), &info) == 0;
}

Result<Fd> TemplateFiles::open(const std::string& organization, const std::string& hash) const {
  if (!has(organization, hash)) return fail(Code::kNotFound, "no files were uploaded under the hash " + hash);
  return open_path(directory_ + "/" + organization + "/" + hash, O_RDONLY);
}

Result<std::unique_ptr<TemplateFiles::Upload>> TemplateFiles::upload(const std::string& organization,
                                                                     const std::string& hash) const {
  if (!is_files_hash(hash)) return fail(Code::kInvalid, "a hash of files is 64 hexadecimal digits");
  const std::string directory = directory_ + "/" + organization;
  BJ_CHECK(make_directories(directory, 0700));
  std::string partial = directory + "/.upload-XXXXXX";
  Fd file(::mkostemp(partial.data(), O_CLOEXEC));
  if (!file.ok()) return fail_errno("mkostemp(" + partial + ")");
  std::unique_ptr<Upload> upload(new Upload(*this, directory, hash, std::move(file)));
  upload->partial_ = std::move(partial);
  return upload;
}

// Partial ones that a dead server left are among them.
void TemplateFiles::drop_oldest(const std::string& directory) const {
  const Result<Fd> store = open_path(directory, O_RDONLY | O_DIRECTORY);
  if (!store) return;
  const auto entries = list_directory(store->get());
  if (!entries) return;
  struct Kept {
    std::string name;
    int64_t time = 0;
    uint64_t size = 0;
  };
  std::vector<Kept> all;
  for (const Entry& entry : *entries) {
    struct stat info{};
    if (::fstatat(store->get(), entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      all.push_back({entry.name, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec,
                     static_cast<uint64_t>(info.st_size)});
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.time > b.time; });
  uint64_t sum = 0;
  for (const Kept& one : all) {
    sum += one.size;
    if (sum > most_bytes_) ::unlinkat(store->get(), one.name.c_str(), 0);
  }
}

}  // namespace bj
