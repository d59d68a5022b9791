// Secrets at rest. A value is stored as "bj1:<key id>:<base64 of iv | ciphertext | tag>": AES-256-GCM under a key
// derived (HKDF) from a master key, bound by its additional data to the table, row and column it lies in, so that a
// ciphertext copied elsewhere does not open. Letta's own format is always read, and written when asked.
//
// Master keys form a ring, each named by an id derived from it. The one that new values get is recorded in the
// database, so that no process writes under a key that another one is retiring. Safe for many threads.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "store/database.h"
#include "store/letta_secret.h"

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

  // Called once after migration: the database learns which key is current, or tells. Refuses (kDenied) a database whose
  // secrets are under a key that is not here. Makes the key file if there is no key at all.
  Result<void> settle(Database& database);

  // The key for values written in this transaction. It takes the lock that a rotation takes, until the commit.
  Result<std::string> write_key(Transaction& transaction);
  Result<std::string> encrypt(const std::string& key_id, const Secret& plain, const Place& place);
  // Our format, Letta's, or a clear value from before there was a key; the rules are the contract's.
  Result<Secret> decrypt(std::string_view stored, const Place& place);
  // Is the value in the form that a write under this key would give it? What rotation looks for.
  bool is_current(const std::string& key_id, std::string_view stored);

  // Rotation, which one process does at a time (lock_key_file). begin: a new key in the file, or the one that an
  // interrupted rotation left there; with a key from the environment, that one. finish: all others leave the file.
  Result<std::string> begin_rotation(Database& database);
  Result<void> finish_rotation(const std::string& key_id);
  const std::string& key_file() const { return options_.key_file; }

 private:
  struct Key;
  using KeyPointer = std::shared_ptr<const Key>;

  explicit Vault(VaultOptions options) : options_(std::move(options)) {}
  Result<void> load_given_keys();
  Result<void> load_key_file();
  Result<std::string> add(const Secret& master, std::string_view prefix);
  KeyPointer find(const std::string& key_id) const;
  Result<KeyPointer> find_or_reload(const std::string& key_id);
  Result<void> settle_in(Transaction& transaction);
  std::string preferred_key(const std::string& current) const;
  Result<Secret> decrypt_letta(std::string_view stored);

  const VaultOptions options_;
  std::string given_key_;                     // id of the key from the environment, or empty
  std::vector<const Secret*> letta_masters_;  // in the order to try
  mutable std::shared_mutex mutex_;           // of the next two
  std::map<std::string, KeyPointer> keys_;
  std::vector<std::string> file_keys_;  // ids in the order of the file
  LettaKeyCache letta_keys_;
};

}  // namespace bj
