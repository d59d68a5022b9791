#include "egress/credential_use.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "egress/clear_path.h"
#include "egress/host_name.h"
#include "egress/value_forms.h"

namespace bj {
namespace {

using Place = GateCredential::Place;

bool is_bound(const GateCredential& credential, std::string_view name, uint16_t port) {
  const bool host = std::any_of(credential.hosts.begin(), credential.hosts.end(), [&](const Target& target) {
    if (target.kind == Target::Kind::kName) return target.name == name;
    return target.kind == Target::Kind::kBelow && is_below(name, target.name);
  });
  return host && std::any_of(credential.ports.begin(), credential.ports.end(),
                             [&](PortRange range) { return range.contains(port); });
}

bool is_meant(const GateCredential& credential, const HttpHead& head, const std::optional<std::string>& clear) {
  if (credential.methods) {
    const bool listed =
        std::find(credential.methods->begin(), credential.methods->end(), head.method) != credential.methods->end();
    if (!listed || head.overrides_method) return false;
  }
  if (!credential.paths) return true;
  return clear && !head.overrides_path &&
         std::any_of(credential.paths->begin(), credential.paths->end(),
                     [&](const std::string& pattern) { return path_matches(pattern, *clear); });
}

// "Bearer {}" with something in its place.
WipedText formatted(const GateCredential& credential, std::string_view what) {
  const std::string_view format = credential.format;
  const size_t at = std::min(format.find("{}"), format.size());
  WipedText text(format.substr(0, at));
  return std::move(text.append(what).append(format.substr(std::min(at + 2, format.size()))));
}

// kTooMuch: there would be more than `most` bytes, and the text was not written to its end.
enum class Replaced { kNothing, kSome, kTooMuch };

// Appends `text` with each placeholder, alone or in its format, replaced.
Replaced append_replaced(std::string_view text, const GateCredential& credential, std::string_view value, size_t most,
                         WipedText& into) {
  const WipedText dressed = formatted(credential, credential.placeholder);
  Replaced done = Replaced::kNothing;
  while (true) {
    size_t at = text.find(dressed.view()), size = dressed.size();
    const size_t bare = text.find(credential.placeholder);
    if (at == text.npos || bare < at) {
      at = bare;
      size = credential.placeholder.size();
    }
    into.append(text.substr(0, at));
    if (at == text.npos) return done;
    into.append(value);
    if (into.size() > most) return Replaced::kTooMuch;
    done = Replaced::kSome;
    text.remove_prefix(at + size);
  }
}

// "Basic dXNlcjpwbGFjZWhvbGRlcg==": user and placeholder as base64.
Replaced append_basic(std::string_view text, const GateCredential& credential, WipedText& into) {
  constexpr std::string_view kScheme = "basic ";
  constexpr size_t kMost = 4096;
  if (lower_case(text.substr(0, kScheme.size())) != kScheme || text.size() > kMost) return Replaced::kNothing;
  const std::string_view encoded = text.substr(kScheme.size());
  std::array<unsigned char, kMost> plain{};
  const int size = EVP_DecodeBlock(plain.data(), reinterpret_cast<const unsigned char*>(encoded.data()),
                                   static_cast<int>(encoded.size()));
  const auto padding = std::min<size_t>(2, static_cast<size_t>(std::count(encoded.begin(), encoded.end(), '=')));
  if (size < static_cast<int>(padding)) return Replaced::kNothing;
  WipedText given;
  const std::string_view readable(reinterpret_cast<const char*>(plain.data()), static_cast<size_t>(size) - padding);
  const Replaced done = append_replaced(readable, credential, credential.value->reveal(), kMostGivenHead, given);
  if (done != Replaced::kSome) return done;
  const Secret room{std::string(given.size() * 4 / 3 + 8, '\0')};
  auto* const out = reinterpret_cast<unsigned char*>(const_cast<char*>(room.reveal().data()));
  const int length =
      EVP_EncodeBlock(out, reinterpret_cast<const unsigned char*>(given.view().data()), static_cast<int>(given.size()));
  into.append("Basic ").append(room.reveal().substr(0, static_cast<size_t>(length)));
  return done;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low >= 0) i += 2;
    out += low >= 0 ? static_cast<char>(high * 16 + low) : text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

// A request that takes credentials one after the other.
class Giving {
 public:
  Giving(const HttpHead& head, const CredentialChoice& chosen) : head_(head), chosen_(chosen) {}

  void append_target(WipedText& into) {
    const size_t mark = head_.target.find('?');
    WipedText query(mark == std::string::npos ? "" : std::string_view(head_.target).substr(mark + 1));
    for (const GateCredential* credential : chosen_) {
      if (credential->place == Place::kQuery) query = with_parameter(query.view(), *credential);
    }
    into.append(std::string_view(head_.target).substr(0, mark));
    if (query.size() != 0) into.append("?").append(query.view());
  }

  // The value of a field, or nothing if a credential sets it.
  void append_field(const HttpField& field, WipedText& into) {
    if (into.size() > kMostGivenHead) return;  // it is refused
    WipedText value(field.value);
    for (const GateCredential* credential : chosen_) {
      if (credential->place != Place::kHeader || lower_case(credential->field) != field.name) continue;
      if (credential->placeholder.empty()) return;  // set by append_own_fields
      const WipedText full = formatted(*credential, credential->value->reveal());
      WipedText given;
      Replaced done =
          field.name == "authorization" ? append_basic(value.view(), *credential, given) : Replaced::kNothing;
      if (done == Replaced::kNothing)
        done = append_replaced(value.view(), *credential, full.view(), kMostGivenHead, given);
      if (done == Replaced::kNothing) continue;
      value = std::move(given);
      note(*credential, done);
    }
    into.append(field.name).append(": ").append(value.view()).append("\r\n");
  }

  void append_own_fields(WipedText& into) {
    for (const GateCredential* credential : chosen_) {
      if (credential->place != Place::kHeader || !credential->placeholder.empty()) continue;
      into.append(lower_case(credential->field)).append(": ");
      into.append(formatted(*credential, credential->value->reveal()).view()).append("\r\n");
      note(*credential, Replaced::kSome);
    }
  }

  std::vector<std::string> used() && { return std::move(used_); }
  bool fits() const { return fits_; }

 private:
  WipedText with_parameter(std::string_view query, const GateCredential& credential) {
    const WipedText full = formatted(credential, credential.value->reveal());
    const Secret encoded = Secret::take(percent_encoded(full.view()));
    WipedText out;
    const auto append = [&out](std::string_view name, auto write) {
      out.append(out.size() == 0 ? "" : "&").append(name).append("=");
      write();
    };
    while (!query.empty()) {
      const size_t end = std::min(query.find('&'), query.size());
      const std::string_view one = query.substr(0, end);
      query.remove_prefix(std::min(end + 1, query.size()));
      const size_t equals = std::min(one.find('='), one.size());
      const bool is_it = percent_decoded(one.substr(0, equals)) == credential.field;
      if (is_it && credential.placeholder.empty()) continue;  // over what the code wrote
      if (!is_it || equals == one.size()) {
        out.append(out.size() == 0 ? "" : "&").append(one);
        continue;
      }
      append(one.substr(0, equals), [&] {
        note(credential, append_replaced(one.substr(equals + 1), credential, encoded.reveal(), kMostGivenHead, out));
      });
    }
    if (!credential.placeholder.empty()) return out;
    append(credential.field, [&] { out.append(encoded.reveal()); });
    note(credential, Replaced::kSome);
    return out;
  }

  void note(const GateCredential& credential, Replaced done) {
    if (done == Replaced::kTooMuch) fits_ = false;
    if (done == Replaced::kNothing) return;
    if (std::find(used_.begin(), used_.end(), credential.name) == used_.end()) used_.push_back(credential.name);
  }

  const HttpHead& head_;
  const CredentialChoice& chosen_;
  std::vector<std::string> used_;
  bool fits_ = true;
};

// Between the client and us, or said by us instead.
bool is_ours_to_say(std::string_view name, Answers answers) {
  static constexpr std::array<std::string_view, 7> kAlways = {
      "connection", "proxy-connection", "keep-alive", "upgrade", "proxy-authorization", "te", "content-length"};
  static constexpr std::array<std::string_view, 4> kReadable = {"accept-encoding", "range", "if-range",
                                                                "sec-websocket-extensions"};
  const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), name) != list.end(); };
  return has(kAlways) || (answers == Answers::kReadable && has(kReadable));
}

enum class BodyType { kPlain, kJson, kForm };

BodyType body_type_of(const HttpHead& head) {
  const std::string* type = head.field("content-type");
  if (type == nullptr) return BodyType::kPlain;
  const std::string essence = lower_case(std::string_view(*type).substr(0, type->find_first_of("; ")));
  if (essence == "application/json" || essence.ends_with("+json")) return BodyType::kJson;
  if (essence == "application/x-www-form-urlencoded") return BodyType::kForm;
  return BodyType::kPlain;
}

Secret written_as(BodyType type, std::string_view text) {
  switch (type) {
    case BodyType::kPlain: break;
    case BodyType::kJson: return Secret::take(json_escaped(text));
    case BodyType::kForm: return Secret::take(percent_encoded(text));
  }
  return Secret(text);
}

}  // namespace

GateCredentials bound_to(const GateCredentials& all, std::string_view name, uint16_t port) {
  GateCredentials bound;
  for (const GateCredential& one : all) {
    if (is_bound(one, name, port)) bound.push_back(one);
  }
  return bound;
}

CredentialChoice meant_for(const GateCredentials& bound, const HttpHead& head) {
  const std::optional<std::string> clear = clear_path(head.path);
  CredentialChoice chosen;
  for (const GateCredential& one : bound) {
    if (is_meant(one, head, clear)) chosen.push_back(&one);
  }
  return chosen;
}

bool reads_body(const CredentialChoice& chosen) {
  return std::any_of(chosen.begin(), chosen.end(),
                     [](const GateCredential* one) { return one->place == Place::kBody; });
}

GivenRequest give_to_head(const HttpHead& head, const CredentialChoice& chosen, Answers answers,
                          std::optional<uint64_t> body_size) {
  GivenRequest given;
  Giving giving(head, chosen);
  given.text.append(head.method).append(" ");
  giving.append_target(given.text);
  given.text.append(" HTTP/1.1\r\n");
  for (const HttpField& field : head.fields) {
    if (body_size && field.name == "expect") continue;  // the client was told to go on
    if (!is_ours_to_say(field.name, answers)) giving.append_field(field, given.text);
  }
  giving.append_own_fields(given.text);
  const std::optional<uint64_t> length = head.content_length && body_size ? body_size : head.content_length;
  if (length) given.text.append("content-length: ").append(std::to_string(*length)).append("\r\n");
  if (answers == Answers::kReadable) given.text.append("accept-encoding: identity\r\n");
  if (head.upgrade == "websocket")
    given.text.append("connection: upgrade\r\nupgrade: websocket\r\n");
  else
    given.text.append(head.keep_alive ? "connection: keep-alive\r\n" : "connection: close\r\n");
  given.text.append("\r\n");
  given.fits = giving.fits() && given.text.size() <= kMostGivenHead;
  given.used = std::move(giving).used();
  return given;
}

GivenRequest give_to_body(const HttpHead& head, std::string_view body, const CredentialChoice& chosen) {
  const BodyType type = body_type_of(head);
  GivenRequest given;
  given.text.append(body);
  for (const GateCredential* credential : chosen) {
    if (credential->place != Place::kBody) continue;
    const WipedText full = formatted(*credential, credential->value->reveal());
    const Secret written = written_as(type, full.view());
    WipedText next;
    const Replaced done = append_replaced(given.text.view(), *credential, written.reveal(), kMostGivenBody, next);
    if (done != Replaced::kNothing) given.used.push_back(credential->name);
    given.text = std::move(next);
    given.fits = given.fits && done != Replaced::kTooMuch;
  }
  given.fits = given.fits && given.text.size() <= kMostGivenBody;
  return given;
}

}  // namespace bj
