#include "cli/limit_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/sizes.h"

namespace bj {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kTiB = 1024.0 * 1024 * kMiB;
constexpr double kYear = 365.0 * 24 * 3600 * 1000;

constexpr LimitField whole(const char* key, LimitKind kind, uint64_t Limits::* member, double least, double most,
                           const char* help) {
  return {key, kind, member, nullptr, least, most, help};
}

constexpr std::array<LimitField, 10> kFields = {
    whole("timeout", LimitKind::kTime, &Limits::wall_ms, 0, kYear, "wall time; 0: none"),
    whole("cpu_time", LimitKind::kTime, &Limits::cpu_ms, 0, kYear, "CPU time of all processes together; 0: none"),
    LimitField{"cpus", LimitKind::kDecimal, nullptr, &Limits::cpus, 0.01, 4096, "share of the processors, e.g. 0.5"},
    whole("memory", LimitKind::kSize, &Limits::memory_bytes, 16 * kMiB, kTiB, "memory and swap"),
    whole("processes", LimitKind::kCount, &Limits::processes, 2, 1 << 20, "processes and threads"),
    whole("open_files", LimitKind::kCount, &Limits::open_files, 128, 1 << 20, "open files per process"),
    whole("disk", LimitKind::kSize, &Limits::disk_bytes, kMiB, kTiB, "everything it can write, /tmp included"),
    whole("output", LimitKind::kSize, &Limits::output_bytes, 0, 1024 * kMiB, "kept of stdout and of stderr, each"),
    whole("argument_size", LimitKind::kSize, &Limits::argument_bytes, 1024, 1024 * kMiB, "source and arguments"),
    whole("return_size", LimitKind::kSize, &Limits::return_bytes, 1024, 1024 * kMiB, "the return value as JSON"),
};

std::string shown(LimitKind kind, double value) {
  switch (kind) {
    case LimitKind::kTime: return format_duration(static_cast<uint64_t>(value));
    case LimitKind::kSize: return format_size(static_cast<uint64_t>(value));
    case LimitKind::kCount: return fmt::format("{:.0f}", value);
    default: return fmt::format("{:g}", value);
  }
}

Result<void> store(const LimitField& field, double value, Limits& limits) {
  if (value < field.least || value > field.most) {
    return fail(Code::kInvalid, fmt::format("{} must be between {} and {}", field.key, shown(field.kind, field.least),
                                            shown(field.kind, field.most)));
  }
  if (field.decimal != nullptr) {
    limits.*field.decimal = value;
  } else {
    limits.*field.whole = static_cast<uint64_t>(value);
  }
  return {};
}

}  // namespace

std::span<const LimitField> limit_fields() { return kFields; }

std::string flag_of(const LimitField& field) {
  std::string flag = std::string("--") + field.key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string variable_of(const LimitField& field) {
  std::string name = field.key;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "BELLJAR_" + name;
}

Result<void> set_limit(const LimitField& field, const std::string& text, Limits& limits) {
  if (field.kind == LimitKind::kDecimal) {
    BJ_TRY(const double value, parse_decimal(text));
    return store(field, value, limits);
  }
  Result<uint64_t> value = field.kind == LimitKind::kTime   ? parse_duration_ms(text)
                           : field.kind == LimitKind::kSize ? parse_size(text)
                                                            : parse_count(text);
  if (!value) return tl::unexpected(value.error());
  return store(field, static_cast<double>(*value), limits);
}

Result<void> set_limit_ms(const LimitField& field, const std::string& text, Limits& limits) {
  BJ_TRY(const uint64_t value, parse_count(text));
  return store(field, static_cast<double>(value), limits);
}

std::string limit_text(const LimitField& field, const Limits& limits) {
  if (field.decimal != nullptr) return shown(field.kind, limits.*field.decimal);
  const uint64_t value = limits.*field.whole;
  return field.kind == LimitKind::kTime && value == 0 ? "none" : shown(field.kind, static_cast<double>(value));
}

}  // namespace bj
