#include "egress/synthetic_names.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "sys/files.h"

namespace bj {
namespace {

constexpr uint32_t kFirstV4 = 198u << 24 | 18u << 16 | 1u << 8;

IpAddress v4_of(size_t number) { return IpAddress::v4(kFirstV4 + static_cast<uint32_t>(number)); }

// fd00:be11::1:0 and the number in the last 16 bits.
IpAddress v6_of(size_t number) {
  return IpAddress::v6({0xFD, 0, 0xBE, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, static_cast<uint8_t>(number >> 8),
                        static_cast<uint8_t>(number)});
}

// The number that an address would have; kMost and more: none.
size_t number_of(const IpAddress& address) {
  if (!address.is_v6) return size_t{address.v4_value()} - kFirstV4;  // wraps below the first one
  const size_t number = size_t{address.bytes[14]} << 8 | address.bytes[15];
  return v6_of(number) == address ? number : SyntheticNames::kMost;
}

}  // namespace

SyntheticNames::SyntheticNames(size_t most) : most_(std::min(most, kMost)) {}

Result<SyntheticPair> SyntheticNames::pair_of(std::string_view name) {
  const auto known = numbers_.find(std::string(name));
  if (known != numbers_.end()) return SyntheticPair{v4_of(known->second), v6_of(known->second)};
  if (names_.size() >= most_)
    return fail(Code::kExhausted, "this sandbox has asked for " + std::to_string(most_) + " different names, its cap");
  const size_t number = names_.size();
  if (file_.ok()) BJ_CHECK(write_all(file_.get(), std::string(name) + "\n", "names"));
  names_.push_back(&numbers_.emplace(name, number).first->first);
  return SyntheticPair{v4_of(number), v6_of(number)};
}

Result<void> SyntheticNames::remember_in(Fd file) {
  constexpr size_t kLongest = kMost * 256;
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail_errno("lseek(names)");
  BJ_TRY(const std::string text, read_all(file.get(), kLongest, "names"));
  std::istringstream lines(text);
  const size_t most = std::exchange(most_, kMost);  // who had one keeps it
  for (std::string name; std::getline(lines, name);) BJ_CHECK(pair_of(name));
  most_ = most;
  for (size_t i = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); i < names_.size(); ++i)
    BJ_CHECK(write_all(file.get(), *names_[i] + "\n", "names"));
  file_ = std::move(file);
  return {};
}

std::vector<std::string> SyntheticNames::all() const {
  std::vector<std::string> names;
  for (const std::string* name : names_) names.push_back(*name);
  return names;
}

const std::string* SyntheticNames::name_of(const IpAddress& address) const {
  const size_t number = number_of(address);
  return number < names_.size() ? names_[number] : nullptr;
}

bool SyntheticNames::is_synthetic(const IpAddress& address) { return number_of(address) < kMost; }

}  // namespace bj
