// Where packages come from: the few settings of pip and npm that reach a builder, collected from the server's own
// environment and its user's files, apt's sources of the machine, and the one place that masks what is secret in them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bj {

// May hold credentials: never log it, show text only through masked().
struct IndexSettings {
  std::map<std::string, std::string> variables;  // PIP_INDEX_URL, HTTPS_PROXY, ... as the installer shall see them
  std::string npmrc;                             // the lines of .npmrc that say where packages are and who we are
  std::string certificates;                      // PEM, trusted instead of the template's own; empty: the template's
  std::string apt;                               // the lines of apt's sources that name archives

  bool operator==(const IndexSettings&) const = default;
};

using LookUp = std::function<std::string(const std::string& name)>;    // an environment variable; empty: not set
using ReadText = std::function<std::string(const std::string& path)>;  // a file's text; empty: there is none

// The environment wins over pip.conf (of the user, then of the machine) and .npmrc.
IndexSettings index_settings(const LookUp& environment, const ReadText& read);
// The lines that are in force of /etc/apt/sources.list and of the files of these names in /etc/apt/sources.list.d.
std::string apt_sources(const ReadText& read, const std::vector<std::string>& names);
// Both from the process and the machine as they are.
IndexSettings index_settings();

// The indexes and proxies that these settings name, each with its port ("mirror.example.org:8080", "[::1]:3141").
std::vector<std::string> configured_hosts(const IndexSettings& settings);
// The hosts that pip and npm must reach with these settings: the configured ones, else the public ones
// ("pypi.org:443"), with what pip's public index refers to.
std::vector<std::string> index_hosts(const IndexSettings& settings);
// The same, and for apt the archives of the machine's sources and Debian's own, which templates from elsewhere name.
std::vector<std::string> package_hosts(const IndexSettings& settings);

// "https://user:secret@host/simple" -> "https://****@host/simple" wherever it stands in the text, and the values of
// npm's tokens and passwords.
std::string mask_credentials(std::string_view text);
// The same, and every secret of these settings wherever it stands alone.
std::string masked(std::string_view text, const IndexSettings& settings);

}  // namespace bj
