#include "engine/environments/environment_index.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "sys/directory.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kAptFolder = "/etc/apt/sources.list.d";
constexpr std::string_view kMask = "****";
constexpr size_t kLongestSettingsFile = 1u << 20;
constexpr size_t kLongestCertificates = 4u << 20;
constexpr size_t kShortestSecret = 4;  // a shorter one would mask half of every text
constexpr std::array kNpmSecrets = {"_authToken", "_auth", "_password"};

std::string trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return {};
  return std::string(text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1));
}

// [global] and [install] of a pip.conf; a value goes on in indented lines.
std::map<std::string, std::string> pip_settings(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream lines(text);
  bool ours = false;
  std::string* open = nullptr;
  for (std::string line; std::getline(lines, line);) {
    const std::string content = trimmed(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    if (line.front() == ' ' || line.front() == '\t') {
      if (open != nullptr) *open += (open->empty() ? "" : " ") + content;
      continue;
    }
    open = nullptr;
    if (content.front() == '[') {
      ours = content == "[global]" || content == "[install]";
    } else if (const size_t equals = content.find_first_of("=:"); ours && equals != std::string::npos) {
      std::string name = trimmed(content.substr(0, equals));
      std::replace(name.begin(), name.end(), '_', '-');
      open = &(out[name] = trimmed(content.substr(equals + 1)));
    }
  }
  return out;
}

// ${NAME} as npm replaces it.
std::string with_variables(const std::string& value, const LookUp& environment) {
  std::string out;
  for (size_t at = 0; at < value.size();) {
    const size_t close = value.compare(at, 2, "${") == 0 ? value.find('}', at) : std::string::npos;
    if (close == std::string::npos) {
      out += value[at++];
    } else {
      out += environment(value.substr(at + 2, close - at - 2));
      at = close + 1;
    }
  }
  return out;
}

bool is_npm_setting(const std::string& name) {
  static const std::set<std::string> kPlain = {"registry", "proxy", "https-proxy", "noproxy", "strict-ssl"};
  if (kPlain.contains(name) || (name.starts_with("@") && name.ends_with(":registry"))) return true;
  if (!name.starts_with("//")) return false;
  const std::string last = name.substr(name.rfind(':') + 1);
  return last == "_authToken" || last == "_auth" || last == "_password" || last == "username" || last == "email";
}

class Collector {
 public:
  Collector(const LookUp& environment, const ReadText& read) : environment_(environment), read_(read) {}

  IndexSettings collect() {
    take_pip();
    take_npm();
    for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"}) take_proxy(name);
    for (const char* name : {"PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}) {
      certificate_files_.push_back(environment_(name));
    }
    for (const auto* list : {&certificate_files_, &configured_certificates_}) {
      for (const std::string& path : *list) {
        if (settings_.certificates.empty() && path.starts_with("/")) settings_.certificates = read_(path);
      }
    }
    if (settings_.certificates.size() > kLongestCertificates) settings_.certificates.clear();
    return std::move(settings_);
  }

 private:
  void set(const std::string& name, const std::string& value) {
    if (!value.empty() && !settings_.variables.contains(name)) settings_.variables[name] = value;
  }

  void take_pip() {
    for (const char* name : {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"}) set(name, environment_(name));
    const std::string home = environment_("HOME"), config = environment_("XDG_CONFIG_HOME");
    std::vector<std::string> files{environment_("PIP_CONFIG_FILE")};
    if (!config.empty() || !home.empty())
      files.push_back((config.empty() ? home + "/.config" : config) + "/pip/pip.conf");
    if (!home.empty()) files.push_back(home + "/.pip/pip.conf");
    files.emplace_back("/etc/pip.conf");
    for (const std::string& file : files) {
      if (file.empty()) continue;
      for (const auto& [name, value] : pip_settings(read_(file))) {
        if (name == "index-url") set("PIP_INDEX_URL", value);
        if (name == "extra-index-url") set("PIP_EXTRA_INDEX_URL", value);
        if (name == "trusted-host") set("PIP_TRUSTED_HOST", value);
        if (name == "proxy") set("PIP_PROXY", value);
        if (name == "cert") configured_certificates_.push_back(value);
      }
    }
  }

  void take_npm() {
    for (const char* name : {"npm_config_registry", "NPM_CONFIG_REGISTRY"}) {
      set("npm_config_registry", environment_(name));
    }
    const std::string home = environment_("HOME");
    std::string file = environment_("NPM_CONFIG_USERCONFIG");
    if (file.empty()) file = environment_("npm_config_userconfig");
    if (file.empty() && !home.empty()) file = home + "/.npmrc";
    if (file.empty()) return;
    std::istringstream lines(read_(file));
    for (std::string line; std::getline(lines, line);) {
      const size_t equals = line.find('=');
      if (equals == std::string::npos) continue;
      const std::string name = trimmed(line.substr(0, equals));
      const std::string value = with_variables(trimmed(line.substr(equals + 1)), environment_);
      if (is_npm_setting(name)) settings_.npmrc += name + "=" + value + "\n";
      if (name == "cafile") configured_certificates_.push_back(value);
    }
  }

  // Programs disagree about the case; they get both.
  void take_proxy(const std::string& name) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    std::string value = environment_(lower);
    if (value.empty()) value = environment_(name);
    set(name, value);
    set(lower, value);
  }

  const LookUp& environment_;
  const ReadText& read_;
  IndexSettings settings_;
  std::vector<std::string> certificate_files_, configured_certificates_;
};

// Entries are lines ("deb http://... bookworm main") or, in files of the name *.sources, stanzas with an empty line
// between them ("URIs: http://...").
void take_apt_entries(const std::string& text, bool in_stanzas, std::string& sources) {
  std::istringstream lines(text);
  std::string entry;
  const auto finish = [&] {
    std::string lower = entry;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower.find("enabled: no\n") == std::string::npos) sources += entry;
    entry.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    const std::string content = trimmed(line);
    if (!content.empty() && content.front() != '#') entry += content + "\n";
    if (!in_stanzas || content.empty()) finish();
  }
  finish();
}

std::vector<std::string> names_in(const char* folder) {
  constexpr size_t kMost = 1000;
  std::vector<std::string> names;
  const Result<Fd> open = open_path(folder, O_RDONLY | O_DIRECTORY);
  if (!open) return names;
  for (const DirectoryEntry& entry : read_directory(open->get(), kMost).value_or(DirectoryPage()).entries) {
    names.push_back(entry.name);
  }
  return names;
}

// From behind "://" to the last "@" before the path begins; npos, npos if there is no user in it.
std::pair<size_t, size_t> user_part(std::string_view text, size_t scheme) {
  const size_t from = scheme + 3;
  const size_t end = std::min(text.find_first_of("/?# \t\r\n\"'<>,", from), text.size());
  const size_t at = text.substr(0, end).rfind('@');
  return at == std::string_view::npos || at < from ? std::pair(std::string_view::npos, std::string_view::npos)
                                                   : std::pair(from, at);
}

void replace_all(std::string& text, const std::string& what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// Passwords and tokens, and users that stand alone (tokens often do).
std::set<std::string> secrets_of(const IndexSettings& settings) {
  std::set<std::string> secrets;
  const auto take_urls = [&](std::string_view text) {
    for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
      const auto [from, end] = user_part(text, at);
      if (from == std::string_view::npos) continue;
      const std::string_view user = text.substr(from, end - from);
      const size_t colon = user.find(':');
      secrets.emplace(colon == std::string_view::npos ? user : user.substr(colon + 1));
    }
  };
  for (const auto& [name, value] : settings.variables) take_urls(value);
  take_urls(settings.npmrc);
  std::istringstream lines(settings.npmrc);
  for (std::string line; std::getline(lines, line);) {
    for (const char* name : kNpmSecrets) {
      if (const size_t at = line.find(std::string(name) + "="); at != std::string::npos) {
        secrets.insert(line.substr(line.find('=', at) + 1));
      }
    }
  }
  std::erase_if(secrets, [](const std::string& secret) { return secret.size() < kShortestSecret; });
  return secrets;
}

// What stands between `key` and one of `ends`.
void mask_values(std::string& text, const std::string& key, const char* ends) {
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + key.size())) {
    const size_t from = at + key.size();
    text.replace(from, std::min(text.find_first_of(ends, from), text.size()) - from, kMask);
  }
}

// Of a variable that names a proxy; NO_PROXY lists names that have none.
bool is_proxy(std::string_view name) {
  return (name.ends_with("_PROXY") || name.ends_with("_proxy")) && name != "NO_PROXY" && name != "no_proxy";
}

// "host:port" of every URL in the text.
void take_hosts(std::string_view text, std::set<std::string>& hosts) {
  for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    const auto [user, user_end] = user_part(text, at);
    const size_t from = user == std::string_view::npos ? at + 3 : user_end + 1;
    const size_t end = std::min(text.find_first_of("/?# \t\r\n\"'<>,", from), text.size());
    std::string host(text.substr(from, end - from));
    if (host.empty()) continue;
    const size_t colon = host.rfind(':');
    const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
    if (!has_port) host += text.substr(0, at).ends_with("http") ? ":80" : ":443";
    hosts.insert(std::move(host));
  }
}

}  // namespace

IndexSettings index_settings(const LookUp& environment, const ReadText& read) {
  return Collector(environment, read).collect();
}

std::string apt_sources(const ReadText& read, const std::vector<std::string>& names) {
  std::string sources;
  take_apt_entries(read("/etc/apt/sources.list"), false, sources);
  for (const std::string& name : names) {
    if (!name.ends_with(".list") && !name.ends_with(".sources")) continue;  // apt does not read others either
    take_apt_entries(read(std::string(kAptFolder) + "/" + name), name.ends_with(".sources"), sources);
  }
  return sources;
}

IndexSettings index_settings() {
  const LookUp environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  const ReadText read = [](const std::string& path) {
    return read_file(path, std::max(kLongestSettingsFile, kLongestCertificates)).value_or("");
  };
  IndexSettings settings = index_settings(environment, read);
  settings.apt = apt_sources(read, names_in(kAptFolder));
  return settings;
}

std::vector<std::string> configured_hosts(const IndexSettings& settings) {
  std::set<std::string> hosts;
  for (const auto& [name, value] : settings.variables) {
    const bool bare_proxy = is_proxy(name) && value.find("://") == std::string::npos;
    take_hosts(bare_proxy ? "http://" + value : value, hosts);
  }
  take_hosts(settings.npmrc, hosts);
  return {hosts.begin(), hosts.end()};
}

std::vector<std::string> index_hosts(const IndexSettings& settings) {
  const std::vector<std::string> own = configured_hosts(settings);
  std::set<std::string> hosts(own.begin(), own.end());
  const auto configured = [&](const char* name) { return settings.variables.contains(name); };
  if (!configured("PIP_INDEX_URL")) hosts.insert("pypi.org:443");
  if (hosts.contains("pypi.org:443")) hosts.insert("files.pythonhosted.org:443");
  if (!configured("npm_config_registry") && settings.npmrc.find("registry=") == std::string::npos) {
    hosts.insert("registry.npmjs.org:443");
  }
  return {hosts.begin(), hosts.end()};
}

std::vector<std::string> package_hosts(const IndexSettings& settings) {
  const std::vector<std::string> indexes = index_hosts(settings);
  std::set<std::string> hosts(indexes.begin(), indexes.end());
  take_hosts(settings.apt, hosts);
  hosts.insert({"deb.debian.org:80", "deb.debian.org:443", "security.debian.org:80"});
  return {hosts.begin(), hosts.end()};
}

std::string mask_credentials(std::string_view text) {
  std::string out;
  size_t copied = 0;
  for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    const auto [from, end] = user_part(text, at);
    if (from == std::string_view::npos || from < copied) continue;
    out += text.substr(copied, from - copied);
    out += kMask;
    copied = end;
  }
  out += text.substr(copied);
  for (const char* name : kNpmSecrets) mask_values(out, std::string(name) + "=", " \t\r\n");
  for (const char* key : {"?password=", "&password="}) mask_values(out, key, "& \t\r\n");
  return out;
}

std::string masked(std::string_view text, const IndexSettings& settings) {
  std::string out = mask_credentials(text);
  for (const std::string& secret : secrets_of(settings)) replace_all(out, secret, kMask);
  return out;
}

}  // namespace bj
