#include "egress/redaction.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>

#include "egress/value_forms.h"

namespace bj {
namespace {

bool is_base64_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
         c == '-' || c == '_';
}

// What no form of a visible value has: control characters but NUL (of UTF-16), and what is not ASCII.
bool is_between_values(char c) { return (c < ' ' && c != '\0') || c == 0x7F; }  // char is signed

uint64_t random_factor() {
  uint64_t factor = 0x9E3779B97F4A7C15u;  // will do: all that hangs on it is how hard time is to measure
  (void)RAND_bytes(reinterpret_cast<unsigned char*>(&factor), sizeof factor);
  return factor | 1;
}

// "Bearer " of "Bearer {}": base64 of the whole begins with letters that the prefix decides, too.
std::string formatted(const GateCredential& credential) {
  const size_t at = credential.format.find("{}");
  if (at == credential.format.npos) return {};
  std::string text;
  text.reserve(credential.format.size() + credential.value->reveal().size());
  return text.append(credential.format, 0, at).append(credential.value->reveal()).append(credential.format, at + 2);
}

}  // namespace

ForbiddenTexts::ForbiddenTexts(const GateCredentials& credentials) : factor_(random_factor()), oldest_(1) {
  for (const GateCredential& credential : credentials) {
    if (!credential.value->empty()) add(credential);  // otherwise its format is all there is, and no secret
  }
  set_hashes();
}

void ForbiddenTexts::add(const GateCredential& credential) {
  std::string whole = formatted(credential);
  for (const std::string_view value : {credential.value->reveal(), std::string_view(whole)}) {
    if (value.empty()) continue;
    for (ValueForm& form : forms_of(value)) {
      if (form.text.empty()) continue;
      longest_ = std::max(longest_, form.text.size());
      window_ = std::min(window_, form.text.size());
      is_visible_ = is_visible_ && std::none_of(form.text.begin(), form.text.end(), is_between_values);
      texts_.push_back({Secret::take(std::move(form.text)), form.is_base64});
    }
  }
  OPENSSL_cleanse(whole.data(), whole.size());
}

void ForbiddenTexts::set_hashes() {
  for (size_t i = 1; i < window_; ++i) oldest_ *= factor_;
  for (Text& one : texts_) {
    one.hash = hash_of(one.text.reveal());
    slots_.set(one.hash >> 48);
  }
  std::sort(texts_.begin(), texts_.end(), [](const Text& a, const Text& b) { return a.hash < b.hash; });
}

uint64_t ForbiddenTexts::hash_of(std::string_view bytes) const {
  uint64_t hash = 0;
  for (size_t i = 0; i < window_; ++i) hash = hash * factor_ + (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0u);
  return hash;
}

uint64_t ForbiddenTexts::rolled(uint64_t hash, char old, char fresh) const {
  return (hash - static_cast<uint8_t>(old) * oldest_) * factor_ + static_cast<uint8_t>(fresh);
}

ForbiddenTexts::Match ForbiddenTexts::match(uint64_t hash, std::string_view bytes) const {
  Match found;
  auto one = std::lower_bound(texts_.begin(), texts_.end(), hash, [](const Text& a, uint64_t h) { return a.hash < h; });
  for (; one != texts_.end() && one->hash == hash; ++one) {
    const std::string_view text = one->text.reveal();
    if (!bytes.starts_with(text)) continue;
    found.size = std::max(found.size, text.size());
    if (one->is_base64) found.base64_size = std::max(found.base64_size, text.size());
  }
  return found;
}

// What a value may still begin in waits, whatever stands there: if only a true beginning waited, code could find the
// value letter by letter. Lines and binary data are through when they are there.
size_t ForbiddenTexts::known_part(std::string_view bytes) const {
  const size_t known = bytes.size() - std::min(bytes.size(), longest_ - 1);
  if (!is_visible_) return known;
  const auto last = std::find_if(bytes.rbegin(), bytes.rend() - static_cast<ptrdiff_t>(known), is_between_values);
  return static_cast<size_t>(bytes.rend() - last);
}

std::string ForbiddenTexts::redacted(std::string_view text) const {
  std::string out;
  Redactor redactor(std::shared_ptr<const ForbiddenTexts>(std::shared_ptr<void>(), this));
  redactor.pass(text, out);
  redactor.finish(out);
  return out;
}

Redactor::~Redactor() { OPENSSL_cleanse(held_.data(), held_.size()); }

// Puts the first `until` bytes out.
void Redactor::flow(std::string_view bytes, size_t until, std::string& out) {
  const size_t begin = out.size();
  out.append(bytes.substr(0, until));
  const size_t window = texts_->window_;
  uint64_t hash = texts_->hash_of(bytes);
  for (size_t i = 0; i < until; ++i) {
    if (texts_->may_start(hash)) {
      const ForbiddenTexts::Match found = texts_->match(hash, bytes.substr(i));
      if (found.size != 0) replaced_ = std::max(replaced_, i + found.size);
      if (found.base64_size != 0) behind_base64_ = std::max(behind_base64_.value_or(0), i + found.base64_size);
    }
    if (i < replaced_ || (behind_base64_ == i && is_base64_letter(bytes[i]))) out[begin + i] = '*';
    hash = texts_->rolled(hash, bytes[i], i + window < bytes.size() ? bytes[i + window] : '\0');
  }
  replaced_ -= std::min(replaced_, until);
  if (behind_base64_ && *behind_base64_ < until) behind_base64_.reset();
  if (behind_base64_) *behind_base64_ -= until;
}

void Redactor::pass(std::string_view piece, std::string& out) {
  if (texts_->empty()) {
    out.append(piece);
    return;
  }
  std::string joined;
  if (!held_.empty()) {
    joined.reserve(held_.size() + piece.size());
    joined.append(held_).append(piece);
    piece = joined;
  }
  const size_t until = texts_->known_part(piece);
  flow(piece, until, out);
  std::string rest(piece.substr(until));
  OPENSSL_cleanse(held_.data(), held_.size());
  held_ = std::move(rest);
  OPENSSL_cleanse(joined.data(), joined.size());
}

void Redactor::finish(std::string& out) {
  flow(held_, held_.size(), out);
  OPENSSL_cleanse(held_.data(), held_.size());
  held_.clear();
  replaced_ = 0;
  behind_base64_.reset();
}

}  // namespace bj
