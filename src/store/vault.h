// Secrets at rest. A value is stored as "bj1:<key id>:<base64 of iv | ciphertext | tag>": AES-256-GCM under a key
// derived (HKDF) from a master key, bound by its additional data to the table, row and column it lies in, so that a
// ciphertext copied elsewhere does not open. Letta's own format is always read, and written when asked.
//
// Master keys form a ring, each named by an id derived from it. The one that new values get is recorded in the
// database, so that no process writes under a key that another one is retiring. Safe for many threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/letta_secret.h"
#include "store/secret.h"

namespace bj {

struct VaultOptions {
  Secret encryption_key;              // BELLJAR_ENCRYPTION_KEY; empty: not given
  Secret letta_encryption_key;        // LETTA_ENCRYPTION_KEY; empty: not given
  std::vector<Secret> previous_keys;  // still read, no longer written
  bool letta_secret_format = false;   // write what a Letta server can read; needs one of the two keys above
  std::string key_file;               // used, and made, when neither key is given; read whenever it is there
};

// Where a value lies.
struct Place {
  std::string_view table;
  std::string_view row;
  std::string_view column;
};

class Vault {
 public:
  static Result<std::unique_ptr<Vault>> open(VaultOptions options);

  // The key for values written in this transaction. It takes the lock that a rotation takes, until the commit.
  Result<std::string> write_key(Transaction& transaction);
  Result<std::string> encrypt(const std::string& key_id, const Secret& plain, const Place& place) const;
  // Our format, Letta's, or a clear value from before there was a key; the rules are the contract's.
  Result<Secret> decrypt(std::string_view stored, const Place& place) const;
  // Would a write under this key leave the value in the form it has? What rotation looks for.
  bool is_current(const std::string& key_id, std::string_view stored) const;

  // Called once after migration: the database learns which key is current, or tells.
  Result<void> settle(Database& database);

  // Rotation. begin: a new key in the file (or one that an interrupted rotation left there); with a key from the
  // environment that key itself. finish: every other key leaves the file.
  Result<std::string> begin_rotation(Database& database);
  Result<void> finish_rotation(const std::string& key_id);

 private:
  struct Key;
  explicit Vault(VaultOptions options);
  Result<void> load_key_file();
  Result<std::shared_ptr<const Key>> find(const std::string& key_id) const;
  Result<std::shared_ptr<const Key>> find_or_reload(const std::string& key_id);
  std::string preferred_key() const;
  Result<Secret> decrypt_letta(std::string_view stored) const;

  const VaultOptions options_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const Key>> keys_;
  std::vector<std::string> file_keys_;  // ids in the order of the file
  std::string given_key_;               // id of the key from the environment, or empty
  mutable LettaKeyCache letta_keys_;
};

}  // namespace bj
