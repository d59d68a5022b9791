#include "cli/first_key.h"

#include <unistd.h>

#include <algorithm>

#include "cli/open_store.h"
#include "cli/record_act.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLongestKeyFile = 4096;
constexpr const char* kName = "first";

Result<bool> opens_something(Store& store, const std::string& file) {
  BJ_TRY(std::string text, read_file(file, kLongestKeyFile));
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  BJ_TRY(const std::optional<ApiKeyRow> known, store.api_keys().find(Secret::take(std::move(text))));
  return known.has_value();
}

}  // namespace

Result<std::optional<FirstKey>> ensure_first_key(Store& store, const std::string& data_directory) {
  FirstKey key;
  key.file = data_directory + "/admin.key";
  if (::access(key.file.c_str(), F_OK) == 0) {
    BJ_TRY(key.works, opens_something(store, key.file));
    return key;
  }
  const Actor owner = local_actor();
  BJ_TRY(const std::vector<ApiKeyRow> known, store.api_keys().list(owner.organization));
  const auto is_first = [](const ApiKeyRow& row) { return row.name == kName; };
  if (std::any_of(known.begin(), known.end(), is_first)) return std::nullopt;
  BJ_TRY(ApiKeyTable::Made made, store.api_keys().create(owner, kName, Role::kAdmin));
  BJ_CHECK(write_file_atomically(key.file, std::string(made.key.reveal()) + "\n", 0600));
  BJ_CHECK(record_act(store, data_directory, owner, "key.create", made.row.id, {{"role", "admin"}}));
  key.made = std::move(made.key);
  return key;
}

}  // namespace bj
