#include "control/template_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/newest_files.h"

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
  keep_newest_files(directory_, owner_.most_bytes_);  // partial ones that a dead server left are among them
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

}  // namespace bj
