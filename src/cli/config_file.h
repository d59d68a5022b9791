// The config file, in TOML:
//
//   data = "/srv/belljar"
//   template = "base"
//   interpreter = "/usr/bin/python3"
//   require_seal = "full"            # or "any"
//   [limits]
//   timeout = "30s"                  # or timeout_ms = 30000; every key of limit_fields.h
//   memory = "512M"
//   [pool.python]                    # and [pool.node]
//   least = 4
//   most = 64
//   warm = 16
//   idle = "30s"
//   [server]                         # of each key: rate_fields.h
//   rate_limit = 100
//   [network]
//   policy = "packages"              # of organizations that have none; as --network takes it
//   [credentials]
//   directory = "/etc/belljar/credentials"
#pragma once

#include <string>

#include "cli/settings.h"

namespace bj {

// Puts what `text` says over `settings`. Failures name `file`, the line and the key.
Result<void> apply_config(const std::string& text, const std::string& file, Settings& settings);

}  // namespace bj
