// The seal: which controls are in force on a sandbox. Reported to whoever asks; a caller can demand that it is full.
#pragma once

#include <array>
#include <string>

#include "seal/control.h"

namespace bj {

enum class ControlState : uint8_t { kOn, kOff, kUnavailable };

struct ControlReport {
  ControlState state = ControlState::kOff;
  std::string detail;  // how, or the reason why not
};

class Seal {
 public:
  void set(Control control, ControlState state, std::string detail = {}) {
    reports_[static_cast<size_t>(control)] = {state, std::move(detail)};
  }
  const ControlReport& at(Control control) const { return reports_[static_cast<size_t>(control)]; }

  bool full() const { return missing().empty(); }
  // "memory (unavailable: no cgroup)", ... : empty when the seal is full.
  std::string missing() const {
    std::string out;
    for (size_t i = 1; i < reports_.size(); ++i) {
      if (reports_[i].state == ControlState::kOn) continue;
      if (!out.empty()) out += ", ";
      out += std::string(kControlNames[i]) + (reports_[i].state == ControlState::kOff ? " (off" : " (unavailable");
      out += reports_[i].detail.empty() ? ")" : ": " + reports_[i].detail + ")";
    }
    return out;
  }

 private:
  std::array<ControlReport, static_cast<size_t>(Control::kCount)> reports_;
};

}  // namespace bj
