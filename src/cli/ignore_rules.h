// Which files of a build's directory its COPY steps leave out: .dockerignore, as docker reads it. A rule is of the
// whole path; what it matches is left out with all that lies below, and of several rules the last one that matches
// decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bj {

class IgnoreRules {
 public:
  explicit IgnoreRules(std::string_view text);

  bool empty() const { return rules_.empty(); }
  // Whether something below what is ignored may be taken all the same.
  bool has_exceptions() const { return exceptions_; }
  // `path` is relative to the directory, without "./".
  bool ignores(std::string_view path) const;

 private:
  struct Rule {
    std::string pattern;
    bool takes_back = false;
  };
  std::vector<Rule> rules_;
  bool exceptions_ = false;
};

}  // namespace bj
