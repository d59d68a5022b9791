// Re-encryption of every secret under a new key. In this order, so that a crash anywhere loses nothing:
//   1. the new key is in the file, beside the old one;
//   2. the database names the new key as current: from here on every writer uses it;
//   3. batch by batch, rows are read, decrypted and written under the new key, each batch one transaction;
//   4. no row is left under another key: the old key leaves the file.
// An interrupted rotation is taken up again with its own key by the next one.
#include "store/key_file.h"
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

Result<void> rewrite(Transaction& transaction, Vault& vault, const VariableKind& kind, const std::string& key_id,
                     const Row& row) {
  BJ_TRY(const VariableRow variable, variable_of(row, vault, kind));
  BJ_TRY(const std::string text, vault.encrypt(key_id, variable.value, {kind.table, variable.id, "value_enc"}));
  BJ_CHECK(transaction.run("UPDATE " + std::string(kind.table) + " SET value = '', value_enc = $1 WHERE id = $2",
                           {text, variable.id}));
  return {};
}

// Clear values of old count as secrets, too.
bool needs_rewriting(Vault& vault, const std::string& key_id, const Row& row) {
  if (row.is_null(5)) return !row.text(4).empty();
  return !row.text(4).empty() || !vault.is_current(key_id, row.text(5));
}

Result<Progress> rewrite_batch(Transaction& transaction, Vault& vault, const VariableKind& kind,
                               const std::string& wanted, const Progress& before) {
  BJ_TRY(const std::string key_id, vault.write_key(transaction));
  if (key_id != wanted) return fail(Code::kBusy, "another process changed the key meanwhile: rotate again");
  BJ_TRY(const Rows rows, transaction.run("SELECT " + variable_columns(kind) + " FROM " + std::string(kind.table) +
                                              " WHERE id > $1 ORDER BY id LIMIT $2",
                                          {before.after, kBatch}));
  Progress progress = before;
  progress.done = rows.rows.empty();
  for (const Row& row : rows.rows) {
    progress.after = row.text(0);
    if (!needs_rewriting(vault, key_id, row)) continue;
    BJ_CHECK(rewrite(transaction, vault, kind, key_id, row));
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
  for (const VariableKind& kind : {kSandboxVariables, kAgentVariables}) {
    Progress progress;
    while (!progress.done) {
      BJ_TRY(progress, store.database().transact_value<Progress>([&](Transaction& transaction) {
        return rewrite_batch(transaction, vault, kind, key_id, progress);
      }));
    }
    changed += progress.changed;
  }
  BJ_CHECK(vault.finish_rotation(key_id));
  return changed;
}

}  // namespace bj
