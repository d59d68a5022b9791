#include "store/vault.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "store/crypto.h"
#include "store/key_file.h"

namespace bj {
namespace {

constexpr std::string_view kFormat = "bj1:";
constexpr std::string_view kLettaFormat = "letta-";  // in front of a key's id: written in Letta's format

// Lengths in front, so that no two places read the same.
std::string additional_data(const Place& place) {
  std::string text;
  for (const std::string_view part : {place.table, place.row, place.column})
    text += std::to_string(part.size()) + ":" + std::string(part);
  return text;
}

std::string name_of(const Place& place) {
  return std::string(place.table) + "." + std::string(place.column) + " of " + std::string(place.row);
}

Result<bool> has_secrets(Transaction& transaction) {
  for (const char* table : {"sandbox_environment_variables", "agent_environment_variables"}) {
    BJ_TRY(const Rows rows,
           transaction.run("SELECT id FROM " + std::string(table) + " WHERE value_enc IS NOT NULL LIMIT 1"));
    if (!rows.rows.empty()) return true;
  }
  return false;
}

// Reads the row that says which key is current, and keeps every other writer of secrets out until the commit.
Result<std::string> lock_current_key(Transaction& transaction) {
  BJ_TRY(const Rows rows, transaction.run("UPDATE vault_state SET key_id = key_id WHERE id = 1 RETURNING key_id"));
  if (rows.rows.empty()) return fail(Code::kInternal, "the database has lost its vault_state row");
  return rows.rows[0].text(0);
}

Result<void> set_current_key(Transaction& transaction, const std::string& key_id) {
  BJ_CHECK(transaction.run("UPDATE vault_state SET key_id = $1 WHERE id = 1", {key_id}));
  return {};
}

}  // namespace

struct Vault::Key {
  Secret master;
  Secret data_key;
  bool letta = false;
};

Result<std::unique_ptr<Vault>> Vault::open(VaultOptions options) {
  if (options.letta_secret_format && options.letta_encryption_key.empty() && options.encryption_key.empty())
    return fail(Code::kInvalid, "letta_secret_format needs LETTA_ENCRYPTION_KEY: a Letta server must have the key too");
  std::unique_ptr<Vault> vault(new Vault(std::move(options)));
  BJ_CHECK(vault->load_given_keys());
  BJ_CHECK(vault->load_key_file());
  return vault;
}

Result<std::string> Vault::add(const Secret& master, std::string_view prefix) {
  BJ_TRY(const Secret name, hkdf_sha256(master, "belljar key id", 6));
  BJ_TRY(Secret data_key, hkdf_sha256(master, "belljar secrets at rest", kAesKeyBytes));
  std::string id = std::string(prefix) + to_hex(name.reveal());
  const std::unique_lock lock(mutex_);
  keys_.try_emplace(id, std::make_shared<const Key>(Key{master.copy(), std::move(data_key), !prefix.empty()}));
  return id;
}

Result<void> Vault::load_given_keys() {
  for (const Secret* key : {&options_.letta_encryption_key, &options_.encryption_key}) {
    if (key->empty()) continue;
    letta_masters_.push_back(key);
    BJ_TRY(given_key_, add(*key, ""));
    BJ_CHECK(add(*key, kLettaFormat));
  }
  for (const Secret& key : options_.previous_keys) {
    if (key.empty()) continue;
    letta_masters_.push_back(&key);
    BJ_CHECK(add(key, ""));
    BJ_CHECK(add(key, kLettaFormat));
  }
  // A Letta server reads with its own key, whatever ours is.
  if (options_.letta_secret_format) {
    BJ_TRY(given_key_, add(*letta_masters_.front(), kLettaFormat));
  }
  return {};
}

Result<void> Vault::load_key_file() {
  if (options_.key_file.empty()) return {};
  BJ_TRY(const std::vector<Secret> masters, read_key_file(options_.key_file));
  std::vector<std::string> ids;
  for (const Secret& master : masters) {
    BJ_TRY(std::string id, add(master, ""));
    ids.push_back(std::move(id));
  }
  const std::unique_lock lock(mutex_);
  file_keys_ = std::move(ids);
  return {};
}

Vault::KeyPointer Vault::find(const std::string& key_id) const {
  const std::shared_lock lock(mutex_);
  const auto found = keys_.find(key_id);
  return found == keys_.end() ? nullptr : found->second;
}

// A rotation by another process adds keys to the file while this one runs.
Result<Vault::KeyPointer> Vault::find_or_reload(const std::string& key_id) {
  if (KeyPointer key = find(key_id)) return key;
  BJ_CHECK(load_key_file());
  if (KeyPointer key = find(key_id)) return key;
  return fail(Code::kUnavailable,
              "the secrets are encrypted with key " + key_id +
                  ", which is not here: give it as BELLJAR_ENCRYPTION_KEY (or, if it was changed, as "
                  "BELLJAR_PREVIOUS_ENCRYPTION_KEY) or restore the key file");
}

std::string Vault::preferred_key(const std::string& current) const {
  if (!given_key_.empty()) return given_key_;
  const std::shared_lock lock(mutex_);
  if (std::find(file_keys_.begin(), file_keys_.end(), current) != file_keys_.end()) return current;
  return file_keys_.empty() ? "" : file_keys_.back();
}

Result<void> Vault::settle_in(Transaction& transaction) {
  BJ_TRY(const std::string current, lock_current_key(transaction));
  if (!current.empty() && !find(current)) {
    BJ_CHECK(load_key_file());
    BJ_TRY(const bool would_lose, has_secrets(transaction));
    if (would_lose && !find(current))
      return fail(Code::kDenied, "the secrets in the database are encrypted with key " + current +
                                     ", which is not here: give it as BELLJAR_ENCRYPTION_KEY (or, to change it, as "
                                     "BELLJAR_PREVIOUS_ENCRYPTION_KEY) or restore the key file");
  }
  if (preferred_key(current).empty()) {
    if (options_.key_file.empty()) return fail(Code::kInvalid, "there is no encryption key and no file to keep one in");
    BJ_CHECK(ensure_key_file(options_.key_file));
    BJ_CHECK(load_key_file());
  }
  const std::string preferred = preferred_key(current);
  if (preferred.empty()) return fail(Code::kInvalid, options_.key_file + " holds no key: restore it, or remove it");
  return preferred == current ? Result<void>() : set_current_key(transaction, preferred);
}

Result<void> Vault::settle(Database& database) {
  return database.transact([this](Transaction& transaction) { return settle_in(transaction); });
}

Result<std::string> Vault::write_key(Transaction& transaction) {
  BJ_TRY(std::string id, lock_current_key(transaction));
  BJ_CHECK(find_or_reload(id));
  return id;
}

Result<std::string> Vault::encrypt(const std::string& key_id, const Secret& plain, const Place& place) {
  BJ_TRY(const KeyPointer key, find_or_reload(key_id));
  if (key->letta) return letta_encrypt(letta_keys_, key->master, plain);
  BJ_TRY(const std::string iv, random_bytes(kGcmIvBytes));
  BJ_TRY(const std::string sealed, aes_gcm_seal(key->data_key, iv, additional_data(place), plain.reveal()));
  return std::string(kFormat) + key_id + ":" + base64(iv + sealed);
}

Result<Secret> Vault::decrypt(std::string_view stored, const Place& place) {
  if (!stored.starts_with(kFormat)) {
    auto plain = decrypt_letta(stored);
    if (!plain) return fail(plain.error().code, plain.error().what + " (" + name_of(place) + ")");
    return plain;
  }
  const std::string_view rest = stored.substr(kFormat.size());
  const size_t colon = rest.find(':');
  const auto bytes = colon == std::string_view::npos ? std::nullopt : lenient_base64(rest.substr(colon + 1));
  if (!bytes || bytes->size() < kGcmIvBytes + kGcmTagBytes)
    return fail(Code::kInternal, "Failed to decrypt data: " + name_of(place) + " is damaged");
  BJ_TRY(const KeyPointer key, find_or_reload(std::string(rest.substr(0, colon))));
  const std::string_view all = *bytes;
  auto plain = aes_gcm_open(key->data_key, all.substr(0, kGcmIvBytes), additional_data(place), all.substr(kGcmIvBytes));
  if (!plain)
    return fail(Code::kInternal, "Failed to decrypt data: " + plain.error().what + " (" + name_of(place) + ")");
  return plain;
}

// Without a key, or when nothing says that it is a ciphertext, the text is the value.
Result<Secret> Vault::decrypt_letta(std::string_view stored) {
  for (const Secret* master : letta_masters_) {
    auto plain = letta_decrypt(letta_keys_, *master, stored);
    if (plain) return plain;
    if (master == letta_masters_.back() && letta_is_encrypted(stored)) return fail(Code::kInternal, plain.error().what);
  }
  return Secret(stored);
}

bool Vault::is_current(const std::string& key_id, std::string_view stored) {
  const KeyPointer key = find(key_id);
  if (key && key->letta)
    return !stored.starts_with(kFormat) && letta_decrypt(letta_keys_, key->master, stored).has_value();
  return stored.starts_with(std::string(kFormat) + key_id + ":");
}

Result<std::string> Vault::begin_rotation(Database& database) {
  std::string wanted = given_key_;
  if (wanted.empty()) {
    BJ_TRY(std::vector<Secret> masters, read_key_file(options_.key_file));
    if (masters.size() < 2) {  // more: a rotation was interrupted, and goes on with its key
      BJ_TRY(Secret fresh, new_master_key());
      masters.push_back(std::move(fresh));
      BJ_CHECK(replace_key_file(options_.key_file, masters));
    }
    BJ_CHECK(load_key_file());
    const std::shared_lock lock(mutex_);
    wanted = file_keys_.back();
  }
  BJ_CHECK(database.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(lock_current_key(transaction));
    return set_current_key(transaction, wanted);
  }));
  return wanted;
}

Result<void> Vault::finish_rotation(const std::string& key_id) {
  if (!given_key_.empty()) return {};  // the file is not ours to change then
  const KeyPointer key = find(key_id);
  if (!key) return fail(Code::kInternal, "the new key is gone");
  std::vector<Secret> masters;
  masters.push_back(key->master.copy());
  BJ_CHECK(replace_key_file(options_.key_file, masters));
  return load_key_file();
}

}  // namespace bj
