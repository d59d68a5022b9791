// Server-sent events out of bytes that come in pieces: (name, data) of each that is complete.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bj {

class EventReader {
 public:
  std::vector<std::pair<std::string, std::string>> feed(std::string_view bytes) {
    std::vector<std::pair<std::string, std::string>> events;
    line_.append(bytes);
    size_t start = 0;
    for (size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n', start)) {
      std::string_view line = std::string_view(line_).substr(start, end - start);
      if (line.ends_with('\r')) line.remove_suffix(1);
      take(line, events);
      start = end + 1;
    }
    line_.erase(0, start);
    return events;
  }

 private:
  static std::string_view value_of(std::string_view line, size_t prefix) {
    line.remove_prefix(prefix);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }

  void take(std::string_view line, std::vector<std::pair<std::string, std::string>>& events) {
    if (line.empty()) {
      if (has_data_) events.emplace_back(std::move(name_), std::move(data_));
      name_.clear();
      data_.clear();
      has_data_ = false;
    } else if (line.starts_with("event:")) {
      name_ = value_of(line, 6);
    } else if (line.starts_with("data:")) {
      if (has_data_) data_ += '\n';
      data_ += value_of(line, 5);
      has_data_ = true;
    }  // comments and other fields mean nothing here
  }

  std::string line_, name_, data_;
  bool has_data_ = false;
};

}  // namespace bj
