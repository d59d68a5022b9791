#include "cli/config_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "cli/limit_fields.h"
#include "cli/rate_fields.h"
#include "cli/sizes.h"

namespace bj {
namespace {

constexpr size_t kMostWaiting = 10'000;  // processes of one pool
constexpr int64_t kMostDays = 36'500;

// One file being read: knows where it is when something is wrong.
class Reader {
 public:
  Reader(const std::string& file, Settings& settings) : file_(file), settings_(settings) {}

  Result<void> read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string_view name = key.str();
      if (name == "limits") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) { return limit(k, n); }));
      } else if (name == "tools") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) { return tool_setting(k, n); }));
      } else if (name == "calls") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) { return calls(k, n); }));
      } else if (name == "server") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) { return server(k, n); }));
      } else if (name == "network") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) {
          return only("network", k, "policy", n, settings_.network);
        }));
      } else if (name == "credentials") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) {
          return only("credentials", k, "directory", n, settings_.credentials_directory);
        }));
      } else if (name == "templates") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) {
          return only("templates", k, "registries", n, settings_.registries);
        }));
      } else if (name == "sandboxes") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) { return sandboxes(k, n); }));
      } else if (name == "pool") {
        BJ_CHECK(each(node, name, [this](std::string_view k, const toml::node& n) { return pool(k, n); }));
      } else {
        BJ_CHECK(top(name, node, key.source()));
      }
    }
    return {};
  }

 private:
  template <class F>
  Result<void> each(const toml::node& node, std::string_view name, F&& visit) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return wrong(node, fmt::format("{} must be a table: [{}]", name, name));
    for (const auto& [key, child] : *table) BJ_CHECK(visit(key.str(), child));
    return {};
  }

  tl::unexpected<Error> wrong(const toml::node& node, const std::string& what) const {
    return wrong(node.source(), what);
  }
  tl::unexpected<Error> wrong(const toml::source_region& where, const std::string& what) const {
    return fail(Code::kInvalid, fmt::format("{}:{}: {}", file_, where.begin.line, what));
  }

  std::string place(const toml::source_region& where) const { return fmt::format("{}:{}", file_, where.begin.line); }

  // Names and values are checked where they are used, beside those of the environment.
  Result<void> tool_setting(std::string_view name, const toml::node& node) {
    const auto truth = node.value_exact<bool>();
    BJ_TRY(const std::string value, truth ? Result<std::string>(*truth ? "true" : "false") : as_text(name, node));
    settings_.tool_settings.push_back({std::string(name), value, place(node.source())});
    return {};
  }

  Result<void> calls(std::string_view name, const toml::node& node) {
    if (name != "keep_days") return wrong(node, fmt::format("there is no setting \"{}\", only keep_days", name));
    const auto days = node.value_exact<int64_t>();
    if (!days || *days < 0 || *days > kMostDays) {
      return wrong(node, fmt::format("keep_days must be a whole number from 0 (for ever) to {}", kMostDays));
    }
    settings_.keep_calls = std::chrono::hours(24 * *days);
    settings_.origins["calls.keep_days"] = place(node.source());
    return {};
  }

  // A table that has one key.
  Result<void> only(std::string_view table, std::string_view name, std::string_view known, const toml::node& node,
                    std::string& into) {
    if (name != known) return wrong(node, fmt::format("there is no setting \"{}\", only {}", name, known));
    BJ_TRY(into, text(name, node));
    settings_.origins[fmt::format("{}.{}", table, name)] = place(node.source());
    return {};
  }

  Result<void> server(std::string_view name, const toml::node& node) {
    for (const RateField& field : rate_fields()) {
      if (field.name != fmt::format("server.{}", name)) continue;
      BJ_TRY(const std::string value, as_text(name, node));
      const Result<void> set = set_rate(field, value, settings_.rates);
      if (!set) return wrong(node, fmt::format("{}: {}", name, set.error().what));
      settings_.origins[field.name] = place(node.source());
      return {};
    }
    return wrong(node, fmt::format("there is no setting \"{}\" of the server", name));
  }

  Result<void> sandboxes(std::string_view name, const toml::node& node) {
    SandboxSettings& into = settings_.sandboxes;
    if (name == "keep_on_stop") {
      const auto truth = node.value_exact<bool>();
      if (!truth) return wrong(node, "keep_on_stop must be true or false");
      into.keep_on_stop = *truth;
      settings_.origins["sandboxes.keep_on_stop"] = place(node.source());
      return {};
    }
    if (name == "domain") {
      BJ_TRY(into.domain, text(name, node));
      settings_.origins["sandboxes.domain"] = place(node.source());
      return {};
    }
    int64_t* const size = name == "most_memory"        ? &into.most_memory_bytes
                          : name == "most_disk"        ? &into.most_disk_bytes
                          : name == "most_stored"      ? &into.most_stored_bytes
                          : name == "most_volume_disk" ? &into.most_volume_bytes
                          : name == "volume_size"      ? &into.volume_bytes
                                                       : nullptr;
    int64_t* const time = name == "timeout"           ? &into.timeout_s
                          : name == "longest_timeout" ? &into.longest_timeout_s
                                                      : nullptr;
    if (size == nullptr && time == nullptr && name != "most_live" && name != "most_cpus" && name != "most_volumes" &&
        name != "provider")
      return wrong(
          node,
          fmt::format("there is no setting \"{}\" of sandboxes, only provider, most_live, most_cpus, most_memory, "
                      "most_disk, most_stored, timeout, longest_timeout, most_volumes, most_volume_disk, "
                      "volume_size, domain and keep_on_stop",
                      name));
    BJ_TRY(const std::string value, as_text(name, node));
    const auto read = [&]() -> Result<void> {
      if (size != nullptr) {
        BJ_TRY(const uint64_t bytes, parse_size(value));
        *size = static_cast<int64_t>(bytes);
      } else if (time != nullptr) {
        BJ_TRY(const uint64_t ms, parse_duration_ms(value));
        if (ms < 1000) return fail(Code::kInvalid, "a second is the least");
        *time = static_cast<int64_t>(ms / 1000);
      } else if (name == "most_live") {
        BJ_TRY(const uint64_t count, parse_count(value));
        into.most_live = static_cast<int64_t>(count);
      } else if (name == "provider") {
        into.provider = value;
      } else if (name == "most_volumes") {
        BJ_TRY(const uint64_t count, parse_count(value));
        into.most_volumes = static_cast<int64_t>(count);
      } else {
        BJ_TRY(into.most_cpus, parse_decimal(value));
      }
      return {};
    };
    if (const Result<void> done = read(); !done) return wrong(node, fmt::format("{}: {}", name, done.error().what));
    settings_.origins["sandboxes." + std::string(name)] = place(node.source());
    return {};
  }

  Result<std::string> text(std::string_view name, const toml::node& node) const {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) return wrong(node, fmt::format("{} must be a string in quotes", name));
    return *value;
  }

  Result<void> top(std::string_view name, const toml::node& node, const toml::source_region& where) {
    std::string* const target = name == "data"          ? &settings_.data_directory
                                : name == "template"    ? &settings_.template_name
                                : name == "interpreter" ? &settings_.interpreter
                                : name == "database"    ? &settings_.database
                                                        : nullptr;
    settings_.origins[std::string(name)] = place(where);
    if (target != nullptr) {
      BJ_TRY(*target, text(name, node));
      return {};
    }
    bool* const flag = name == "letta_secret_format" ? &settings_.letta_secret_format
                       : name == "pass_proxies"      ? &settings_.pass_proxies
                                                     : nullptr;
    if (flag != nullptr) {
      const auto value = node.value_exact<bool>();
      if (!value) return wrong(node, fmt::format("{} must be true or false", name));
      *flag = *value;
      return {};
    }
    if (name != "require_seal") return wrong(where, fmt::format("there is no setting \"{}\"", name));
    BJ_TRY(const std::string wanted, text(name, node));
    if (wanted != "full" && wanted != "any") return wrong(node, "require_seal must be \"full\" or \"any\"");
    settings_.require_full_seal = wanted == "full";
    return {};
  }

  // Strings and numbers are read by the same rule as flags.
  Result<std::string> as_text(std::string_view name, const toml::node& node) const {
    if (const auto string = node.value_exact<std::string>()) return *string;
    if (const auto number = node.value_exact<int64_t>()) return std::to_string(*number);
    if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
    return wrong(node, fmt::format("{} must be a number or a string such as \"30s\" or \"512M\"", name));
  }

  Result<void> limit(std::string_view name, const toml::node& node) {
    BJ_TRY(const std::string value, as_text(name, node));
    for (const LimitField& field : limit_fields()) {
      const bool in_ms = field.kind == LimitKind::kTime && name == std::string(field.key) + "_ms";
      if (name != field.key && !in_ms) continue;
      const Result<void> set =
          in_ms ? set_limit_ms(field, value, settings_.limits) : set_limit(field, value, settings_.limits);
      if (!set) return wrong(node, fmt::format("{}: {}", name, set.error().what));
      if (field.whole == &Limits::wall_ms) settings_.timeout_given = true;
      settings_.origins[std::string("limits.") + field.key] = place(node.source());
      return {};
    }
    return wrong(node, fmt::format("there is no limit \"{}\"", name));
  }

  Result<void> pool(std::string_view name, const toml::node& node) {
    PoolOptions* const options = name == "python"  ? &settings_.python_pool
                                 : name == "node"  ? &settings_.node_pool
                                 : name == "gated" ? &settings_.gated_pool
                                                   : nullptr;
    if (options == nullptr)
      return wrong(node, fmt::format("there is no pool \"{}\", only python, node and gated", name));
    return each(node, "pool." + std::string(name),
                [&](std::string_view k, const toml::node& n) { return pool_option(k, n, *options); });
  }

  Result<void> pool_option(std::string_view name, const toml::node& node, PoolOptions& options) const {
    if (name == "idle") {
      BJ_TRY(const std::string value, as_text(name, node));
      const Result<uint64_t> idle = parse_duration_ms(value);
      if (!idle) return wrong(node, "idle: " + idle.error().what);
      options.idle = std::chrono::milliseconds(*idle);
      return {};
    }
    size_t* const target = name == "least"  ? &options.least
                           : name == "most" ? &options.most
                           : name == "warm" ? &options.warm
                                            : nullptr;
    if (target == nullptr)
      return wrong(node, fmt::format("there is no pool setting \"{}\", only least, most, warm and idle", name));
    const auto number = node.value_exact<int64_t>();
    if (!number || *number < 0 || static_cast<uint64_t>(*number) > kMostWaiting) {
      return wrong(node, fmt::format("{} must be a whole number from 0 to {}", name, kMostWaiting));
    }
    *target = static_cast<size_t>(*number);
    return {};
  }

  const std::string& file_;
  Settings& settings_;
};

}  // namespace

Result<void> apply_config(const std::string& text, const std::string& file, Settings& settings) {
  try {
    const toml::table root = toml::parse(text, file);
    return Reader(file, settings).read(root);
  } catch (const toml::parse_error& error) {
    return fail(Code::kInvalid, fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()));
  }
}

}  // namespace bj
