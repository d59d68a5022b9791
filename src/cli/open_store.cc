#include "cli/open_store.h"

#include "cli/context.h"
#include "cli/say.h"
#include "cli/with_engine.h"

namespace bj {
namespace {

Secret secret_variable(const char* name) { return Secret(process_environment(name)); }

}  // namespace

StoreOptions store_options(const Settings& settings) {
  StoreOptions options;
  options.database_url = settings.database;
  options.data_directory = settings.data_directory;
  options.vault.encryption_key = secret_variable("BELLJAR_ENCRYPTION_KEY");
  options.vault.letta_encryption_key = secret_variable("LETTA_ENCRYPTION_KEY");
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
