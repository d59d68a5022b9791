#include "egress/redaction.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstring>

#include "egress/value_forms.h"

namespace bj {
namespace {

bool is_base64_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
         c == '-' || c == '_';
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

ForbiddenTexts::ForbiddenTexts(const GateCredentials& credentials) {
  for (const GateCredential& credential : credentials) {
    if (credential.value->empty()) continue;  // its format is all there is, and no secret
    std::string whole = formatted(credential);
    for (const std::string_view value : {credential.value->reveal(), std::string_view(whole)}) {
      if (value.empty()) continue;
      for (ValueForm& form : forms_of(value)) {
        longest_ = std::max(longest_, form.text.size());
        const auto first = static_cast<uint8_t>(form.text[0]);
        first_byte_.set(first);
        first_two_.set(first * 256u + static_cast<uint8_t>(form.text[1]));
        texts_.push_back({Secret::take(std::move(form.text)), form.is_base64});
      }
    }
    OPENSSL_cleanse(whole.data(), whole.size());
  }
}

ForbiddenTexts::Match ForbiddenTexts::match(std::string_view bytes) const {
  Match found;
  for (const Text& one : texts_) {
    const std::string_view text = one.text.reveal();
    if (!bytes.starts_with(text)) continue;
    found.size = std::max(found.size, text.size());
    if (one.is_base64) found.base64_size = std::max(found.base64_size, text.size());
  }
  return found;
}

bool ForbiddenTexts::may_begin(std::string_view bytes) const {
  return std::any_of(texts_.begin(), texts_.end(), [&](const Text& one) {
    const std::string_view text = one.text.reveal();
    return text.size() > bytes.size() && text.starts_with(bytes);
  });
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
  for (size_t i = 0; i < until; ++i) {
    if (texts_->may_start(bytes.substr(i))) {
      const ForbiddenTexts::Match found = texts_->match(bytes.substr(i));
      if (found.size != 0) replaced_ = std::max(replaced_, i + found.size);
      if (found.base64_size != 0) behind_base64_ = std::max(behind_base64_.value_or(0), i + found.base64_size);
    }
    if (i < replaced_ || (behind_base64_ == i && is_base64_letter(bytes[i]))) out[begin + i] = '*';
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
  size_t until = piece.size();
  for (size_t i = piece.size() - std::min(piece.size(), texts_->longest_ - 1); i < piece.size(); ++i) {
    if (!texts_->may_start(piece.substr(i)) || !texts_->may_begin(piece.substr(i))) continue;
    until = i;
    break;
  }
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
}

}  // namespace bj
