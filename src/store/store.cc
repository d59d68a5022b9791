#include "store/store.h"

#include "store/migrations.h"
#include "store/sql.h"
#include "sys/files.h"

namespace bj {
namespace {

Result<void> make_defaults(Database& database) {
  return database.transact([](Transaction& transaction) -> Result<void> {
    const int64_t now = now_us();
    BJ_CHECK(
        transaction.run("INSERT INTO organizations (id, name, created_at) VALUES ($1, 'default_org', $2) "
                        "ON CONFLICT (id) DO NOTHING",
                        {kDefaultOrganization, now}));
    BJ_CHECK(
        transaction.run("INSERT INTO users (id, organization_id, name, created_at) "
                        "VALUES ($1, $2, 'default_user', $3) ON CONFLICT (id) DO NOTHING",
                        {kDefaultUser, kDefaultOrganization, now}));
    return {};
  });
}

bool is_postgres(const std::string& url) { return url.starts_with("postgresql://") || url.starts_with("postgres://"); }

Result<std::unique_ptr<Database>> open_database(const StoreOptions& options) {
  if (options.database_url.empty()) {
    SqliteOptions sqlite;
    sqlite.path = options.data_directory + "/belljar.db";
    return open_sqlite(std::move(sqlite));
  }
  // The url may hold a password, so it is not repeated.
  if (!is_postgres(options.database_url))
    return fail(Code::kInvalid, "the database must be a postgresql:// url, or none for SQLite in the data directory");
  PostgresOptions postgres;
  postgres.url = options.database_url;
  return open_postgres(std::move(postgres));
}

}  // namespace

Store::Store(std::unique_ptr<Database> database, std::unique_ptr<Vault> vault)
    : database_(std::move(database)),
      vault_(std::move(vault)),
      organizations_(*database_),
      users_(*database_),
      api_keys_(*database_),
      tools_(*database_),
      agents_(*database_, *vault_),
      blocks_(*database_),
      sandbox_configs_(*database_),
      sandbox_variables_(*database_, *vault_),
      network_policies_(*database_),
      credentials_(*database_, *vault_),
      calls_(*database_),
      audit_(*database_) {}

Result<std::unique_ptr<Store>> Store::open(StoreOptions options) {
  BJ_CHECK(make_directories(options.data_directory, 0700));
  if (options.vault.key_file.empty()) options.vault.key_file = options.data_directory + "/secret.key";
  BJ_TRY(auto database, open_database(options));
  BJ_CHECK(migrate(*database, migrations()));
  BJ_CHECK(make_defaults(*database));
  BJ_TRY(auto vault, Vault::open(std::move(options.vault)));
  BJ_CHECK(vault->settle(*database));
  return std::unique_ptr<Store>(new Store(std::move(database), std::move(vault)));
}

}  // namespace bj
