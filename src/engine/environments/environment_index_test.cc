#include "engine/environments/environment_index.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace bj {
namespace {

using Texts = std::map<std::string, std::string>;

IndexSettings settings(const Texts& environment, const Texts& files) {
  const auto in = [](const Texts& texts) {
    return [&texts](const std::string& name) {
      const auto found = texts.find(name);
      return found == texts.end() ? std::string() : found->second;
    };
  };
  return index_settings(in(environment), in(files));
}

TEST(EnvironmentIndexTest, OnlyTheSettingsOfPackageIndexesPass) {
  const IndexSettings found = settings({{"PIP_INDEX_URL", "https://a/simple"},
                                        {"PIP_TARGET", "/etc"},
                                        {"AWS_SECRET_ACCESS_KEY", "x"},
                                        {"https_proxy", "http://p"},
                                        {"NPM_CONFIG_REGISTRY", "https://n/"}},
                                       {});
  EXPECT_EQ(found.variables, (Texts{{"HTTPS_PROXY", "http://p"},
                                    {"PIP_INDEX_URL", "https://a/simple"},
                                    {"https_proxy", "http://p"},
                                    {"npm_config_registry", "https://n/"}}));
}

TEST(EnvironmentIndexTest, TheEnvironmentWinsOverTheUsersFileAndThatOverTheMachines) {
  const Texts files = {
      {"/home/u/.config/pip/pip.conf", "[global]\nindex-url = https://user/simple\ntarget = /etc\n"},
      {"/etc/pip.conf", "[global]\nindex-url = https://machine\ntrusted_host: m\n[freeze]\nproxy = x\n"}};
  const IndexSettings from_files = settings({{"HOME", "/home/u"}}, files);
  EXPECT_EQ(from_files.variables, (Texts{{"PIP_INDEX_URL", "https://user/simple"}, {"PIP_TRUSTED_HOST", "m"}}));
  const IndexSettings both = settings({{"HOME", "/home/u"}, {"PIP_INDEX_URL", "https://env"}}, files);
  EXPECT_EQ(both.variables.at("PIP_INDEX_URL"), "https://env");
}

TEST(EnvironmentIndexTest, AValueOfPipConfMayGoOnInIndentedLines) {
  const IndexSettings found =
      settings({}, {{"/etc/pip.conf", "[install]\nextra-index-url =\n    https://a\n    https://b\n# no\n"}});
  EXPECT_EQ(found.variables.at("PIP_EXTRA_INDEX_URL"), "https://a https://b");
}

TEST(EnvironmentIndexTest, OfNpmrcOnlyRegistriesAndTheirCredentialsPassWithVariablesReplaced) {
  const IndexSettings found =
      settings({{"HOME", "/h"}, {"TOKEN", "t0ken"}},
               {{"/h/.npmrc",
                 "registry = https://r/\n@s:registry=https://s/\n//r/:_authToken=${TOKEN}\nscript-shell=/bin/evil\n"}});
  EXPECT_EQ(found.npmrc, "registry=https://r/\n@s:registry=https://s/\n//r/:_authToken=t0ken\n");
}

TEST(EnvironmentIndexTest, WhatMustBeReachedIsWhatIsConfiguredOrElseThePublicIndexes) {
  using Names = std::vector<std::string>;
  const IndexSettings own = settings({{"PIP_INDEX_URL", "http://u:p@127.0.0.1:3141/simple"},
                                      {"PIP_EXTRA_INDEX_URL", "https://a.example/x https://[::1]/y"},
                                      {"HTTPS_PROXY", "proxy.example:3128"},
                                      {"NO_PROXY", "localhost"}},
                                     {});
  EXPECT_EQ(configured_hosts(own), (Names{"127.0.0.1:3141", "[::1]:443", "a.example:443", "proxy.example:3128"}));
  EXPECT_EQ(configured_hosts({}), Names{});
  const Names all = package_hosts(own), none = package_hosts({});
  const auto has = [](const Names& list, const char* name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  EXPECT_TRUE(has(all, "127.0.0.1:3141") && has(all, "registry.npmjs.org:443"));
  EXPECT_FALSE(has(all, "pypi.org:443") || has(all, "files.pythonhosted.org:443"));
  EXPECT_TRUE(has(none, "pypi.org:443") && has(none, "files.pythonhosted.org:443"));
}

TEST(EnvironmentIndexTest, AptsSourcesOfTheMachineAreAmongThePackages) {
  const Texts files = {
      {"/etc/apt/sources.list",
       "# deb http://old.example/ x main\ndeb [arch=amd64] http://mirror.example:8080/debian bookworm main\n"},
      {"/etc/apt/sources.list.d/a.sources",
       "Types: deb\nURIs: https://u:p@archive.example/debian\n  http://second.example/debian\nSuites: x\n\n"
       "Enabled: no\nTypes: deb\nURIs: http://off.example/\n"},
      {"/etc/apt/sources.list.d/b.list.save", "deb http://saved.example/ x main\n"},
      {"/etc/apt/sources.list.d/c.list", "deb file:///srv/packages x main\n"}};
  IndexSettings known;
  known.apt = apt_sources([&](const std::string& path) { return files.contains(path) ? files.at(path) : ""; },
                          {"a.sources", "b.list.save", "c.list"});
  std::vector<std::string> added = package_hosts(known);
  std::erase_if(added, [](const std::string& host) {
    const std::vector<std::string> usual = package_hosts({});
    return std::find(usual.begin(), usual.end(), host) != usual.end();
  });
  EXPECT_EQ(added, (std::vector<std::string>{"archive.example:443", "mirror.example:8080", "second.example:80"}));
}

TEST(EnvironmentIndexTest, CertificatesAreCopiedByContent) {
  EXPECT_EQ(settings({{"PIP_CERT", "/ca.pem"}}, {{"/ca.pem", "PEM"}}).certificates, "PEM");
  EXPECT_EQ(settings({}, {{"/etc/pip.conf", "[global]\ncert = /ca.pem\n"}, {"/ca.pem", "PEM"}}).certificates, "PEM");
}

TEST(EnvironmentIndexTest, CredentialsAreMaskedWhereverTheyStand) {
  EXPECT_EQ(mask_credentials("from https://user:s3cret@host/simple and http://tok3n@h, ok"),
            "from https://****@host/simple and http://****@h, ok");
  EXPECT_EQ(mask_credentials("https://u:p@ss@host/x"), "https://****@host/x");
  EXPECT_EQ(mask_credentials("//host/:_authToken=abc def"), "//host/:_authToken=**** def");
  EXPECT_EQ(mask_credentials("postgresql://h/d?user=u&password=p&x=1"), "postgresql://h/d?user=u&password=****&x=1");
  EXPECT_EQ(mask_credentials("https://host/@scope/name"), "https://host/@scope/name");
  EXPECT_EQ(mask_credentials("user@host, 50% ://"), "user@host, 50% ://");
}

TEST(EnvironmentIndexTest, ASecretOfTheSettingsIsMaskedAlsoAlone) {
  IndexSettings known;
  known.variables["PIP_INDEX_URL"] = "https://user:s3cret@host/simple";
  known.npmrc = "//r/:_authToken=t0ken\n";
  EXPECT_EQ(masked("password s3cret, token t0ken, user", known), "password ****, token ****, user");
}

}  // namespace
}  // namespace bj
