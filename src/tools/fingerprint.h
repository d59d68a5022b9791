// Names and hashes that Letta derives from what is stored: other programs compare them, so they are exact.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tools/requirement.h"
#include "tools/sandbox_config.h"

namespace bj {

std::string sha256_hex(std::string_view bytes);

// The text that a configuration's fingerprint is taken of: sorted keys, no spaces, ASCII.
std::string canonical_config(SandboxType type, const std::optional<std::string>& organization_id,
                             const boost::json::object& config);
// SHA-256 of that text, as a decimal number.
std::string fingerprint(SandboxType type, const std::optional<std::string>& organization_id,
                        const boost::json::object& config);

struct HashedTool {
  std::string source_code;
  std::optional<std::string> source_type;
  Requirements pip;
  Requirements npm;
};
std::string tool_hash(const HashedTool& tool);  // 12 hexadecimal digits

// Modal's app of a deployed tool.
std::string modal_app_name(std::string_view tool_name, std::string_view organization_id);
// The newer naming: a version of tool and configuration, and the app that carries it.
std::string modal_version_hash(const HashedTool& tool, std::string_view config_fingerprint);
std::string modal_version_app_name(std::string_view tool_id, std::string_view version_hash);

}  // namespace bj
