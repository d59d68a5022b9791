#include "bench/pydantic_packages.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "bench/baseline.h"
#include "sys/files.h"

namespace bj {

Task<Result<std::string>> pydantic_packages(asio::any_io_executor executor, std::string scratch) {
  const std::string venv = scratch + "/pydantic-venv";
  struct stat info{};
  if (::stat((venv + "/done").c_str(), &info) != 0) {
    BJ_CO_CHECK(make_directories(scratch, 0755));
    BJ_CO_CHECK(co_await spawn_and_wait(executor, {"/usr/bin/python3", "-m", "venv", venv}));
    // Through a shell for pip's configuration of this machine: the baseline's empty environment hides it.
    BJ_CO_CHECK(co_await spawn_and_wait(
        executor, {"/bin/sh", "-c", "HOME=${HOME:-/root} exec " + venv + "/bin/pip install -q pydantic"}));
    BJ_CO_CHECK(write_file_atomically(venv + "/done", "", 0644));
  }
  BJ_CO_TRY(const Fd lib, open_path(venv + "/lib", O_RDONLY | O_DIRECTORY));
  BJ_CO_TRY(const auto entries, list_directory(lib.get()));
  for (const Entry& entry : entries) {
    if (entry.name.starts_with("python3")) co_return venv + "/lib/" + entry.name + "/site-packages";
  }
  co_return fail(Code::kNotFound, "no site-packages in " + venv);
}

}  // namespace bj
