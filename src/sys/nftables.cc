#include "sys/nftables.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace bj::nft {
namespace {

constexpr size_t kIpv4Size = 4;
constexpr uint32_t kIpv4Destination = 16, kIpv6Destination = 24;  // offsets in the headers
constexpr uint32_t kPortOffset = 2;                               // of the destination, in TCP and UDP
constexpr uint32_t kKnownStates = 1u << 1 | 1u << 2;              // established, related
// The names nft prints for the types of a set's parts; the kernel does not care.
constexpr uint32_t kTypeIpv4 = 7, kTypeIpv6 = 8, kTypePort = 13, kTypeBits = 6;

void put_number(nlmsghdr* header, uint16_t attribute, uint32_t value) {
  mnl_attr_put_u32(header, attribute, htonl(value));
}

void put_key(nlmsghdr* header, uint16_t attribute, std::span<const uint8_t> bytes) {
  nlattr* nest = mnl_attr_nest_start(header, attribute);
  mnl_attr_put(header, NFTA_DATA_VALUE, bytes.size(), bytes.data());
  mnl_attr_nest_end(header, nest);
}

void put_field_sizes(nlmsghdr* header, std::initializer_list<uint32_t> sizes) {
  nlattr* description = mnl_attr_nest_start(header, NFTA_SET_DESC);
  nlattr* concatenation = mnl_attr_nest_start(header, NFTA_SET_DESC_CONCAT);
  for (const uint32_t size : sizes) {
    nlattr* field = mnl_attr_nest_start(header, NFTA_LIST_ELEM);
    put_number(header, NFTA_SET_FIELD_LEN, size);
    mnl_attr_nest_end(header, field);
  }
  mnl_attr_nest_end(header, concatenation);
  mnl_attr_nest_end(header, description);
}

// A set of (address . port), up to its description.
void put_set(nlmsghdr* header, const std::string& table, const char* name, uint32_t id, uint32_t flags,
             size_t address_size) {
  const uint32_t address_type = address_size == kIpv4Size ? kTypeIpv4 : kTypeIpv6;
  mnl_attr_put_strz(header, NFTA_SET_TABLE, table.c_str());
  mnl_attr_put_strz(header, NFTA_SET_NAME, name);
  put_number(header, NFTA_SET_ID, id);
  put_number(header, NFTA_SET_FLAGS, flags);
  put_number(header, NFTA_SET_KEY_TYPE, address_type << kTypeBits | kTypePort);
  put_number(header, NFTA_SET_KEY_LEN, static_cast<uint32_t>(address_size + 4));
}

// libmnl's own loops over attributes are macros for C.
template <class Take>
void for_each_attribute(const void* from, size_t size, Take take) {
  const auto* const end = static_cast<const char*>(from) + size;
  for (const auto* item = static_cast<const nlattr*>(from);
       mnl_attr_ok(item, static_cast<int>(end - reinterpret_cast<const char*>(item))); item = mnl_attr_next(item)) {
    take(item);
  }
}

template <class Take>
void for_each_nested(const nlattr* nest, Take take) {
  for_each_attribute(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), take);
}

// What stands under `wanted` directly in the nest; null: nothing.
const nlattr* find_attribute(const nlattr* nest, uint16_t wanted) {
  const nlattr* found = nullptr;
  for_each_nested(nest, [&](const nlattr* item) {
    if (mnl_attr_get_type(item) == wanted) found = item;
  });
  return found;
}

void take_elements(const nlattr* list, std::vector<std::vector<uint8_t>>& keys) {
  for_each_nested(list, [&keys](const nlattr* element) {
    const nlattr* const key = find_attribute(element, NFTA_SET_ELEM_KEY);
    const nlattr* const value = key == nullptr ? nullptr : find_attribute(key, NFTA_DATA_VALUE);
    if (value == nullptr) return;
    const auto* const bytes = static_cast<const uint8_t*>(mnl_attr_get_payload(value));
    keys.emplace_back(bytes, bytes + mnl_attr_get_payload_len(value));
  });
}

}  // namespace

Result<std::vector<std::vector<uint8_t>>> elements_of(int socket, const char* table, const char* set) {
  NetlinkBatch request;
  nlmsghdr* header = request.begin(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETSETELEM, NLM_F_DUMP);
  auto* message = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(nfgenmsg)));
  message->nfgen_family = NFPROTO_INET;
  message->version = NFNETLINK_V0;
  mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_TABLE, table);
  mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_SET, set);
  request.add(header);
  std::vector<std::vector<uint8_t>> keys;
  BJ_CHECK(request.ask(socket, std::string("elements of ") + set, [&keys](const nlmsghdr* answer) {
    const auto* const body = static_cast<const char*>(mnl_nlmsg_get_payload_offset(answer, sizeof(nfgenmsg)));
    const auto* const end = static_cast<const char*>(mnl_nlmsg_get_payload_tail(answer));
    for_each_attribute(body, static_cast<size_t>(end - body), [&keys](const nlattr* attribute) {
      if (mnl_attr_get_type(attribute) == NFTA_SET_ELEM_LIST_ELEMENTS) take_elements(attribute, keys);
    });
  }));
  return keys;
}

std::vector<uint8_t> pair_key(std::span<const uint8_t> address, uint16_t port) {
  std::vector<uint8_t> key(address.begin(), address.end());
  key.push_back(static_cast<uint8_t>(port >> 8));
  key.push_back(static_cast<uint8_t>(port));
  key.resize(key.size() + 2);
  return key;
}

Transaction::Transaction(std::string table) : table_(std::move(table)) { edge(NFNL_MSG_BATCH_BEGIN); }

nlmsghdr* Transaction::begin(uint8_t type, uint16_t flags) {
  nlmsghdr* header =
      batch_.begin(static_cast<uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type), static_cast<uint16_t>(flags | NLM_F_ACK));
  auto* message = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(nfgenmsg)));
  message->nfgen_family = NFPROTO_INET;
  message->version = NFNETLINK_V0;
  return header;
}

void Transaction::edge(uint16_t type) {
  nlmsghdr* header = batch_.begin(type, 0);
  auto* message = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(nfgenmsg)));
  message->nfgen_family = AF_UNSPEC;
  message->version = NFNETLINK_V0;
  message->res_id = htons(NFNL_SUBSYS_NFTABLES);
  batch_.add(header);
}

Result<void> Transaction::commit(int socket, const std::string& what) {
  edge(NFNL_MSG_BATCH_END);
  return batch_.send(socket, what);
}

void Transaction::create_table() {
  nlmsghdr* header = begin(NFT_MSG_NEWTABLE, NLM_F_CREATE);
  mnl_attr_put_strz(header, NFTA_TABLE_NAME, table_.c_str());
  batch_.add(header);
}

void Transaction::create_chain(const char* name, const char* type, uint32_t hook, int32_t priority, uint32_t policy) {
  nlmsghdr* header = begin(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
  mnl_attr_put_strz(header, NFTA_CHAIN_TABLE, table_.c_str());
  mnl_attr_put_strz(header, NFTA_CHAIN_NAME, name);
  nlattr* nest = mnl_attr_nest_start(header, NFTA_CHAIN_HOOK);
  put_number(header, NFTA_HOOK_HOOKNUM, hook);
  put_number(header, NFTA_HOOK_PRIORITY, static_cast<uint32_t>(priority));
  mnl_attr_nest_end(header, nest);
  put_number(header, NFTA_CHAIN_POLICY, policy);
  mnl_attr_put_strz(header, NFTA_CHAIN_TYPE, type);
  batch_.add(header);
}

void Transaction::create_pair_set(const char* name, uint32_t id, size_t address_size) {
  nlmsghdr* header = begin(NFT_MSG_NEWSET, NLM_F_CREATE);
  put_set(header, table_, name, id, NFT_SET_INTERVAL | NFT_SET_CONCAT, address_size);
  put_field_sizes(header, {static_cast<uint32_t>(address_size), 2});
  batch_.add(header);
}

void Transaction::create_noting_set(const char* name, uint32_t id, size_t address_size, uint32_t most) {
  nlmsghdr* header = begin(NFT_MSG_NEWSET, NLM_F_CREATE);
  put_set(header, table_, name, id, NFT_SET_EVAL, address_size);
  nlattr* description = mnl_attr_nest_start(header, NFTA_SET_DESC);
  put_number(header, NFTA_SET_DESC_SIZE, most);
  mnl_attr_nest_end(header, description);
  batch_.add(header);
}

void Transaction::element(uint8_t type, const char* set, std::span<const uint8_t> key, std::span<const uint8_t> last) {
  nlmsghdr* header = begin(type, type == NFT_MSG_NEWSETELEM ? NLM_F_CREATE : 0);
  mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_TABLE, table_.c_str());
  mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_SET, set);
  if (!key.empty()) {
    nlattr* list = mnl_attr_nest_start(header, NFTA_SET_ELEM_LIST_ELEMENTS);
    nlattr* one = mnl_attr_nest_start(header, NFTA_LIST_ELEM);
    put_key(header, NFTA_SET_ELEM_KEY, key);
    put_key(header, NFTA_SET_ELEM_KEY_END, last);
    mnl_attr_nest_end(header, one);
    mnl_attr_nest_end(header, list);
  }
  batch_.add(header);
}

void Transaction::add_element(const char* set, std::span<const uint8_t> key, std::span<const uint8_t> last) {
  element(NFT_MSG_NEWSETELEM, set, key, last);
}

void Transaction::remove_all_elements(const char* set) { element(NFT_MSG_DELSETELEM, set, {}, {}); }

const uint32_t Rule::kMetaFamily = NFT_META_NFPROTO;
const uint32_t Rule::kMetaProtocol = NFT_META_L4PROTO;

Rule::Rule(Transaction& transaction, const char* chain)
    : transaction_(transaction), header_(transaction.begin(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND)) {
  mnl_attr_put_strz(header_, NFTA_RULE_TABLE, transaction.table_.c_str());
  mnl_attr_put_strz(header_, NFTA_RULE_CHAIN, chain);
  list_ = mnl_attr_nest_start(header_, NFTA_RULE_EXPRESSIONS);
}

Rule::~Rule() {
  mnl_attr_nest_end(header_, list_);
  transaction_.batch_.add(header_);
}

void Rule::open(const char* name) {
  item_ = mnl_attr_nest_start(header_, NFTA_LIST_ELEM);
  mnl_attr_put_strz(header_, NFTA_EXPR_NAME, name);
  data_ = mnl_attr_nest_start(header_, NFTA_EXPR_DATA);
}

Rule& Rule::close() {
  mnl_attr_nest_end(header_, data_);
  mnl_attr_nest_end(header_, item_);
  return *this;
}

void Rule::value(uint16_t attribute, std::span<const uint8_t> bytes) { put_key(header_, attribute, bytes); }

void Rule::number(uint16_t attribute, uint32_t value) { put_number(header_, attribute, value); }

Rule& Rule::meta(uint32_t key) {
  open("meta");
  number(NFTA_META_DREG, NFT_REG_1);
  number(NFTA_META_KEY, key);
  return close();
}

Rule& Rule::load(uint32_t destination, uint32_t base, uint32_t offset, uint32_t size) {
  open("payload");
  number(NFTA_PAYLOAD_DREG, destination);
  number(NFTA_PAYLOAD_BASE, base);
  number(NFTA_PAYLOAD_OFFSET, offset);
  number(NFTA_PAYLOAD_LEN, size);
  return close();
}

Rule& Rule::equals(std::span<const uint8_t> wanted) {
  open("cmp");
  number(NFTA_CMP_SREG, NFT_REG_1);
  number(NFTA_CMP_OP, NFT_CMP_EQ);
  value(NFTA_CMP_DATA, wanted);
  return close();
}

Rule& Rule::to_port(uint16_t port) {
  const std::array<uint8_t, 2> wanted = {static_cast<uint8_t>(port >> 8), static_cast<uint8_t>(port)};
  return load(NFT_REG_1, NFT_PAYLOAD_TRANSPORT_HEADER, kPortOffset, 2).equals(wanted);
}

Rule& Rule::to_address(std::span<const uint8_t> prefix) {
  const uint32_t offset = prefix.size() <= kIpv4Size ? kIpv4Destination : kIpv6Destination;
  return load(NFT_REG_1, NFT_PAYLOAD_NETWORK_HEADER, offset, static_cast<uint32_t>(prefix.size())).equals(prefix);
}

// Address and port side by side in the registers, as pair_key() has them side by side in memory.
void Rule::load_pair(size_t address_size) {
  const bool ipv4 = address_size == kIpv4Size;
  load(NFT_REG_1, NFT_PAYLOAD_NETWORK_HEADER, ipv4 ? kIpv4Destination : kIpv6Destination,
       static_cast<uint32_t>(address_size));
  load(ipv4 ? NFT_REG32_01 : NFT_REG_2, NFT_PAYLOAD_TRANSPORT_HEADER, kPortOffset, 2);
}

Rule& Rule::note_pair(const char* set, uint32_t id, size_t address_size) {
  load_pair(address_size);
  open("dynset");
  mnl_attr_put_strz(header_, NFTA_DYNSET_SET_NAME, set);
  number(NFTA_DYNSET_SET_ID, id);
  number(NFTA_DYNSET_OP, NFT_DYNSET_OP_ADD);
  number(NFTA_DYNSET_SREG_KEY, NFT_REG_1);
  return close();
}

Rule& Rule::to_pair_in(const char* set, uint32_t id, size_t address_size) {
  load_pair(address_size);
  open("lookup");
  mnl_attr_put_strz(header_, NFTA_LOOKUP_SET, set);
  number(NFTA_LOOKUP_SREG, NFT_REG_1);
  number(NFTA_LOOKUP_SET_ID, id);
  return close();
}

Rule& Rule::belongs_to_known_connection() {
  std::array<uint8_t, 4> mask{}, zero{};
  std::memcpy(mask.data(), &kKnownStates, sizeof kKnownStates);
  open("ct");
  number(NFTA_CT_DREG, NFT_REG_1);
  number(NFTA_CT_KEY, NFT_CT_STATE);
  close();
  open("bitwise");
  number(NFTA_BITWISE_SREG, NFT_REG_1);
  number(NFTA_BITWISE_DREG, NFT_REG_1);
  number(NFTA_BITWISE_LEN, sizeof kKnownStates);
  value(NFTA_BITWISE_MASK, mask);
  value(NFTA_BITWISE_XOR, zero);
  close();
  open("cmp");
  number(NFTA_CMP_SREG, NFT_REG_1);
  number(NFTA_CMP_OP, NFT_CMP_NEQ);
  value(NFTA_CMP_DATA, zero);
  return close();
}

Rule& Rule::redirect(uint16_t port) {
  const std::array<uint8_t, 2> target = {static_cast<uint8_t>(port >> 8), static_cast<uint8_t>(port)};
  open("immediate");
  number(NFTA_IMMEDIATE_DREG, NFT_REG_1);
  value(NFTA_IMMEDIATE_DATA, target);
  close();
  open("redir");
  number(NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
  return close();
}

Rule& Rule::accept() {
  open("immediate");
  number(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
  nlattr* data = mnl_attr_nest_start(header_, NFTA_IMMEDIATE_DATA);
  nlattr* verdict = mnl_attr_nest_start(header_, NFTA_DATA_VERDICT);
  number(NFTA_VERDICT_CODE, NF_ACCEPT);
  mnl_attr_nest_end(header_, verdict);
  mnl_attr_nest_end(header_, data);
  return close();
}

Rule& Rule::reject_with_reset() {
  open("reject");
  number(NFTA_REJECT_TYPE, NFT_REJECT_TCP_RST);
  mnl_attr_put_u8(header_, NFTA_REJECT_ICMP_CODE, 0);
  return close();
}

Rule& Rule::reject_as_prohibited() {
  open("reject");
  number(NFTA_REJECT_TYPE, NFT_REJECT_ICMPX_UNREACH);
  mnl_attr_put_u8(header_, NFTA_REJECT_ICMP_CODE, NFT_REJECT_ICMPX_ADMIN_PROHIBITED);
  return close();
}

}  // namespace bj::nft
