// nf_tables as one transaction of netlink messages: tables, chains, sets, rules. Thin: a function or a method is a
// message or an expression, in nft's words. Everything is in family inet.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sys/netlink.h"

namespace bj::nft {

// All of a transaction happens or nothing does.
class Transaction {
 public:
  explicit Transaction(std::string table);

  void create_table();
  // hook: NF_INET_LOCAL_OUT...; policy: NF_ACCEPT, NF_DROP.
  void create_chain(const char* name, const char* type, uint32_t hook, int32_t priority, uint32_t policy);
  // A set of (address . port); its elements are ranges of both, which must not overlap.
  void create_pair_set(const char* name, uint32_t id, size_t address_size);
  // A set of single (address . port) that rules add to (Rule::note_pair) until it is full.
  void create_noting_set(const char* name, uint32_t id, size_t address_size, uint32_t most);
  // Keys as pair_key() makes them; last: the end of the range, included.
  void add_element(const char* set, std::span<const uint8_t> first, std::span<const uint8_t> last);
  void remove_all_elements(const char* set);

  Result<void> commit(int socket, const std::string& what);
  bool has_room() const { return batch_.has_room(4096); }

 private:
  friend class Rule;
  nlmsghdr* begin(uint8_t type, uint16_t flags);
  void edge(uint16_t type);
  void element(uint8_t type, const char* set, std::span<const uint8_t> key, std::span<const uint8_t> last);

  NetlinkBatch batch_;
  std::string table_;
};

// The bytes of (address . port) as sets hold them: each part padded to four bytes.
std::vector<uint8_t> pair_key(std::span<const uint8_t> address, uint16_t port);

// The keys that a set of single elements holds now.
Result<std::vector<std::vector<uint8_t>>> elements_of(int socket, const char* table, const char* set);

// A rule at the end of a chain: its expressions in the order they run. Complete when it is destroyed.
class Rule {
 public:
  Rule(Transaction& transaction, const char* chain);
  ~Rule();
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  Rule& family(uint8_t nfproto) { return meta(kMetaFamily).equals({&nfproto, 1}); }
  Rule& protocol(uint8_t number) { return meta(kMetaProtocol).equals({&number, 1}); }
  Rule& to_port(uint16_t port);
  // The destination starts with these bytes. Match the family first.
  Rule& to_address(std::span<const uint8_t> prefix);
  // (destination . port) is in the set. Match family and protocol first.
  Rule& to_pair_in(const char* set, uint32_t id, size_t address_size);
  // Adds (destination . port) to the set and goes on. Match family and protocol first.
  Rule& note_pair(const char* set, uint32_t id, size_t address_size);
  Rule& belongs_to_known_connection();
  Rule& redirect(uint16_t port);
  Rule& accept();
  Rule& reject_with_reset();
  Rule& reject_as_prohibited();

 private:
  Rule& meta(uint32_t key);
  Rule& load(uint32_t destination, uint32_t base, uint32_t offset, uint32_t size);
  void load_pair(size_t address_size);
  Rule& equals(std::span<const uint8_t> value);
  void open(const char* name);
  Rule& close();
  void value(uint16_t attribute, std::span<const uint8_t> bytes);
  void number(uint16_t attribute, uint32_t value);

  static const uint32_t kMetaFamily, kMetaProtocol;
  Transaction& transaction_;
  nlmsghdr* header_;
  nlattr* list_;
  nlattr* item_ = nullptr;
  nlattr* data_ = nullptr;
};

}  // namespace bj::nft
