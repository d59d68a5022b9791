// Re-encryption of every secret under a new key. In this order, so that a crash anywhere loses nothing:
//   1. the new key is in the file, beside the old one;
//   2. the database names the new key as current: from here on every writer uses it;
//   3. batch by batch, rows are read, decrypted and written under the new key, each batch one transaction;
//   4. no row is left under another key: the old key leaves the file.
// An interrupted rotation is taken up again with its own key by the next one.
#include "store/key_file.h"
#include "store/secret_table.h"
#include "store/sql.h"
#include "store/store.h"
#include "store/variable_rows.h"

namespace bj {
namespace {

constexpr int kBatch = 200;

struct Progress {
  std::string after;  // the last id seen
  int64_t changed = 0;
  bool done = false;
};

// A table whose column value_enc holds secrets.
struct EncryptedTable {
  std::string_view name;
  std::string_view clear;  // where clear values of old are: a column, or an empty text
  std::string_view wipe;   // takes them away
};
constexpr std::string_view kWipe = "value = '', ";
constexpr EncryptedTable kTables[] = {{kSandboxVariables.table, "value", kWipe},
                                      {kAgentVariables.table, "value", kWipe},
                                      {kLiveVariables.table, "value", kWipe},
                                      {kCredentialTable, "''", ""},
                                      {kSecretTable, "''", ""}};

// The columns of a row that is read here.
constexpr size_t kId = 0, kClear = 1, kEncrypted = 2;

Result<void> rewrite(Transaction& transaction, Vault& vault, const EncryptedTable& table, const std::string& key_id,
                     const Row& row) {
  const std::string& id = row.text(kId);
  const Place place{table.name, id, "value_enc"};
  Secret value(row.text(kClear));
  if (!row.is_null(kEncrypted)) {
    BJ_TRY(value, vault.decrypt(row.text(kEncrypted), place));
  }
  BJ_TRY(const std::string text, vault.encrypt(key_id, value, place));
  BJ_CHECK(transaction.run(
      "UPDATE " + std::string(table.name) + " SET " + std::string(table.wipe) + "value_enc = $1 WHERE id = $2",
      {text, id}));
  return {};
}

// Clear values of old count as secrets, too.
bool needs_rewriting(Vault& vault, const std::string& key_id, const Row& row) {
  if (row.is_null(kEncrypted)) return !row.text(kClear).empty();
  return !row.text(kClear).empty() || !vault.is_current(key_id, row.text(kEncrypted));
}

Result<Progress> rewrite_batch(Transaction& transaction, Vault& vault, const EncryptedTable& table,
                               const std::string& wanted, const Progress& before) {
  BJ_TRY(const std::string key_id, vault.write_key(transaction));
  if (key_id != wanted) return fail(Code::kBusy, "another process changed the key meanwhile: rotate again");
  BJ_TRY(const Rows rows, transaction.run("SELECT id, " + std::string(table.clear) + ", value_enc FROM " +
                                              std::string(table.name) + " WHERE id > $1 ORDER BY id LIMIT $2",
                                          {before.after, kBatch}));
  Progress progress = before;
  progress.done = rows.rows.empty();
  for (const Row& row : rows.rows) {
    progress.after = row.text(kId);
    if (!needs_rewriting(vault, key_id, row)) continue;
    BJ_CHECK(rewrite(transaction, vault, table, key_id, row));
    progress.changed++;
  }
  return progress;
}

}  // namespace

Result<int64_t> rotate_secrets(Store& store) {
  Vault& vault = store.vault();
  BJ_TRY(const Fd lock, lock_key_file(vault.key_file()));
  BJ_TRY(const std::string key_id, vault.begin_rotation(store.database()));
  int64_t changed = 0;
  for (const EncryptedTable& table : kTables) {
    Progress progress;
    while (!progress.done) {
      BJ_TRY(progress, store.database().transact_value<Progress>([&](Transaction& transaction) {
        return rewrite_batch(transaction, vault, table, key_id, progress);
      }));
    }
    changed += progress.changed;
  }
  BJ_CHECK(vault.finish_rotation(key_id));
  return changed;
}

}  // namespace bj
