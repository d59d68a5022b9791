// Which modules the tools of an environment always import, found out call by call, so that interpreters can be started
// with them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bj {

class LearnedImports {
 public:
  // What a call imported. True: a module is worth importing ahead from now on.
  bool learn(const std::vector<std::string>& imports);
  // These could not be imported ahead: never again.
  void give_up(const std::vector<std::string>& modules);
  // Beside the environment's own.
  std::vector<std::string> with(std::vector<std::string> preload) const;
  // How many names it has in mind: bounded, whatever tools say that they imported.
  size_t known() const { return seen_.size(); }

 private:
  std::map<std::string, int> seen_;
  std::set<std::string> learned_;
};

}  // namespace bj
