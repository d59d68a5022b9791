#include "cli/open_store.h"

#include <cstdlib>

#include "cli/context.h"
#include "cli/letta_config.h"
#include "cli/say.h"
#include "cli/with_engine.h"

namespace bj {
namespace {

// From the environment, where the empty text is a value, too, else from a file.
Secret secret_setting(const std::vector<GivenSetting>& files, const char* name) {
  if (const char* const variable = std::getenv(name)) return Secret(variable);
  const GivenSetting* const given = find_setting(files, name);
  return given == nullptr ? Secret() : Secret(given->value);
}

}  // namespace

StoreOptions store_options(const Settings& settings) {
  StoreOptions options;
  options.database_url = settings.database;
  options.data_directory = settings.data_directory;
  const std::vector<GivenSetting> files = file_settings(settings);
  options.vault.encryption_key = secret_setting(files, "BELLJAR_ENCRYPTION_KEY");
  options.vault.letta_encryption_key = secret_setting(files, "LETTA_ENCRYPTION_KEY");
  if (Secret previous = secret_setting(files, "BELLJAR_PREVIOUS_ENCRYPTION_KEY"); !previous.empty())
    options.vault.previous_keys.push_back(std::move(previous));
  options.vault.letta_secret_format = settings.letta_secret_format;
  return options;
}

Actor local_actor() { return {kDefaultOrganization, kDefaultUser, "", Role::kAdmin}; }

int with_store(const Settings& settings, const std::function<Result<void>(Store&)>& work) {
  const Result<std::unique_ptr<Store>> store = Store::open(store_options(settings));
  if (!store) {
    complain(store.error().what);
    return kExitSandbox;
  }
  const Result<void> done = work(**store);
  if (done) return kExitOk;
  complain(done.error().what);
  return status_of(done.error());
}

}  // namespace bj
