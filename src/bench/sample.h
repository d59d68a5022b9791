// Measured times and a row of the benchmark's table.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace bj {

class Sample {
 public:
  void add(double ms) { values_.push_back(ms); }
  bool empty() const { return values_.empty(); }
  double quantile(double q) const {
    if (values_.empty()) return 0;
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[std::min(sorted.size() - 1, static_cast<size_t>(q * static_cast<double>(sorted.size())))];
  }
  double p50() const { return quantile(0.5); }
  double p99() const { return quantile(0.99); }

 private:
  std::vector<double> values_;
};

class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct BenchRow {
  std::string work;
  double p50_ms = 0, p99_ms = 0;
  std::string baseline;  // empty: an absolute goal
  double baseline_p50_ms = 0;
  double ratio = 0;  // as the goal counts it
  std::string goal;
  bool met = false;
  std::string note;
  std::string skipped;  // why there is no measurement
};

}  // namespace bj
