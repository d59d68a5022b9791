#include "cli/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace bj {
namespace {

struct Quantity {
  double number = 0;
  std::string unit;
};

Result<Quantity> split(const std::string& text, const char* example) {
  Quantity found;
  const char* const end = text.data() + text.size();
  // charconv, not strtod: no sign, no hexadecimal, no "inf", no locale.
  const auto [rest, error] = std::from_chars(text.data(), end, found.number, std::chars_format::fixed);
  if (error != std::errc() || !(found.number >= 0) || !std::isfinite(found.number)) {
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a number with a unit, such as {}", text, example));
  }
  found.unit.assign(rest, end);
  return found;
}

Result<uint64_t> scaled(double number, double factor, const std::string& text) {
  const double value = std::round(number * factor);
  if (value >= 9e18) return fail(Code::kInvalid, "\"" + text + "\" is too large");
  return static_cast<uint64_t>(value);
}

// 1536 of 1024 is "1.5".
std::string shortened(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

Result<uint64_t> parse_size(const std::string& text) {
  static constexpr const char* kExample = "512M or 1G";
  BJ_TRY(Quantity found, split(text, kExample));
  std::string& unit = found.unit;
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (unit.size() == 3 && unit.ends_with("IB")) unit.erase(1);
  if (unit.size() == 2 && unit.ends_with("B")) unit.erase(1);
  static constexpr std::string_view kUnits = "BKMGT";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit);
  if (unit.size() > 1 || power == std::string_view::npos) {
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a size, such as {}", text, kExample));
  }
  return scaled(found.number, std::pow(1024.0, static_cast<double>(power)), text);
}

Result<uint64_t> parse_duration_ms(const std::string& text) {
  static constexpr const char* kExample = "500ms, 30s or 2m";
  BJ_TRY(const Quantity found, split(text, kExample));
  static const std::map<std::string, double> kUnits = {
      {"ms", 1}, {"", 1000}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  const auto unit = kUnits.find(found.unit);
  if (unit == kUnits.end())
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a time, such as {}", text, kExample));
  return scaled(found.number, unit->second, text);
}

Result<uint64_t> parse_count(const std::string& text) {
  uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) {
    return fail(Code::kInvalid, "\"" + text + "\" is not a whole number");
  }
  return value;
}

Result<double> parse_decimal(const std::string& text) {
  BJ_TRY(const Quantity found, split(text, "1.5"));
  if (!found.unit.empty()) return fail(Code::kInvalid, "\"" + text + "\" is not a number, such as 1.5");
  return found.number;
}

std::string format_size(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return shortened(value) + " " + kUnits[unit];
}

std::string format_duration(uint64_t duration_ms) {
  if (duration_ms < 1000) return fmt::format("{} ms", duration_ms);
  if (duration_ms % 60'000 == 0) return fmt::format("{} min", duration_ms / 60'000);
  return shortened(static_cast<double>(duration_ms) / 1000) + " s";
}

}  // namespace bj
