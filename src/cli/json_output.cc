#include "cli/json_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "cli/terminal.h"

namespace bj {
namespace json = boost::json;

namespace {

void append(const json::value& value, std::string& out);

void append_double(double number, std::string& out) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // it stays what it was: no integer
  out += text;
}

void append_object(const json::object& object, std::string& out) {
  out += '{';
  for (bool first = true; const auto& [key, value] : object) {
    if (!std::exchange(first, false)) out += ',';
    out += json::serialize(json::string_view(key)) + ":";
    append(value, out);
  }
  out += '}';
}

// The depth of `value` is bounded where it was parsed.
void append(const json::value& value, std::string& out) {
  if (value.is_double()) {
    append_double(value.get_double(), out);
  } else if (value.is_object()) {
    append_object(value.get_object(), out);
  } else if (value.is_array()) {
    out += '[';
    for (bool first = true; const json::value& item : value.get_array()) {
      if (!std::exchange(first, false)) out += ',';
      append(item, out);
    }
    out += ']';
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string json_text(const json::value& value) {
  std::string out;
  append(value, out);
  return out;
}

double rounded_ms(double duration_ms) { return std::round(duration_ms * 1000) / 1000; }

const char* state_name(ControlState state) {
  switch (state) {
    case ControlState::kOn: return "on";
    case ControlState::kOff: return "off";
    case ControlState::kUnavailable: return "unavailable";
  }
  return "off";
}

json::object seal_json(const Seal& seal) {
  json::object out{{"full", seal.full()}};
  for (size_t i = 1; i < static_cast<size_t>(Control::kCount); ++i) {
    const auto control = static_cast<Control>(i);
    const ControlReport& report = seal.at(control);
    out[name_of(control)] = json::object{{"state", state_name(report.state)}, {"detail", valid_utf8(report.detail)}};
  }
  return out;
}

json::object call_json(const CallResult& result) {
  json::object out{{"status", status_name(result.status)}, {"return", result.value}};
  if (result.status != CallStatus::kOk) {
    out["error"] = json::object{{"name", valid_utf8(result.error.name)},
                                {"message", valid_utf8(result.error.message)},
                                {"traceback", valid_utf8(result.error.traceback)}};
  }
  out["stdout"] = valid_utf8(result.output);
  out["stderr"] = valid_utf8(result.error_output);
  out["stdout_dropped"] = result.output_dropped;
  out["stderr_dropped"] = result.error_output_dropped;
  out["duration_ms"] = rounded_ms(result.duration_ms);
  json::array limits;
  for (const std::string& limit : result.limits_hit) limits.emplace_back(limit);
  out["limits_hit"] = std::move(limits);
  out["seal"] = seal_json(result.seal);
  if (result.network) out["network"] = network_use_json(*result.network);
  return out;
}

json::object failed_call_json(const std::string& status, const std::string& message) {
  return {{"status", status},
          {"return", nullptr},
          {"error", {{"name", "Belljar"}, {"message", valid_utf8(message)}, {"traceback", ""}}},
          {"stdout", ""},
          {"stderr", ""},
          {"stdout_dropped", 0},
          {"stderr_dropped", 0},
          {"duration_ms", 0},
          {"limits_hit", json::array()},
          {"seal", nullptr}};
}

void print_json(const json::value& value) { print_untrusted(STDOUT_FILENO, json_text(value) + "\n"); }

}  // namespace bj
