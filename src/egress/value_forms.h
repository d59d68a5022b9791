// The shapes in which a value travels: as it is put into a URL, a form or JSON, and all those in which a server could
// send it back. Texts in and out; whoever passes a secret wipes what he gets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bj {

// Everything but letters, digits and -._~ as %XX.
std::string percent_encoded(std::string_view text);
// As it stands between the quotes of a JSON text.
std::string json_escaped(std::string_view text);

// The value itself and what usual programs make of it: in capitals or small letters, percent-encoded once or twice, as
// JSON or HTML, with every character escaped, in hexadecimal, as UTF-16, in base64 of both alphabets. Base64 of a
// longer text that holds the value looks different at three alignments, of which only the letters that the value alone
// decides are given. Each form once.
struct ValueForm {
  std::string text;
  bool is_base64 = false;  // the letter behind it may hold bits of the value, too
};
std::vector<ValueForm> forms_of(std::string_view value);

}  // namespace bj
