#include "egress/redaction.h"

#include <gtest/gtest.h>

#include <random>

#include "egress/value_forms.h"

namespace bj {
namespace {

constexpr const char* kValue = "s3cr+t/V=lue&\"9";

GateCredentials credentials(std::initializer_list<const char*> values, std::string format = "Bearer {}") {
  GateCredentials all;
  for (const char* value : values) {
    GateCredential one;
    one.value = std::make_shared<const Secret>(std::string_view(value));
    one.format = format;
    all.push_back(std::move(one));
  }
  return all;
}

std::string redacted(const ForbiddenTexts& texts, std::string_view text) { return texts.redacted(text); }

std::string base64(std::string_view text) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < text.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group * 256 + (i + k < text.size() ? static_cast<uint8_t>(text[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k > text.size() ? '=' : kLetters[(group >> (18 - 6 * k)) & 63];
  }
  return out;
}

TEST(RedactionTest, EveryFormOfTheValueIsReplacedByAsManyStars) {
  const ForbiddenTexts texts(credentials({kValue}));
  for (const std::string& form :
       std::vector<std::string>{kValue, "s3cr%2Bt%2FV%3Dlue%26%229", "s3cr%2bt%2fV%3dlue%26%229", R"(s3cr+t/V=lue&\"9)",
                                R"(s3cr+t\/V=lue&\"9)", "s3cr+t/V=lue&amp;&quot;9", R"(s3cr+t/V\u003dlue\u0026\"9)",
                                "s3cr%252Bt%252FV%253Dlue%2526%25229", "s3cr%252bt%252fV%253dlue%2526%25229",
                                percent_encoded(kValue), json_escaped(kValue)}) {
    const std::string out = redacted(texts, "<" + form + ">");
    EXPECT_EQ(out, "<" + std::string(form.size(), '*') + ">") << form;
  }
}

TEST(RedactionTest, SoIsOneWithEveryCharacterEscaped) {
  const ForbiddenTexts texts(credentials({"kK-12345"}));
  for (const std::string& form : std::vector<std::string>{
           "%6B%4B%2D%31%32%33%34%35", "%6b%4b%2d%31%32%33%34%35",
           R"(\u006b\u004b\u002d\u0031\u0032\u0033\u0034\u0035)", R"(\x6b\x4b\x2d\x31\x32\x33\x34\x35)",
           "&#107;&#75;&#45;&#49;&#50;&#51;&#52;&#53;", "&#x6B;&#x4B;&#x2D;&#x31;&#x32;&#x33;&#x34;&#x35;",
           std::string("k\0K\0-\0"
                       "1\0"
                       "2\0"
                       "3\0"
                       "4\0"
                       "5\0",
                       16)})
    EXPECT_EQ(redacted(texts, "<" + form + ">"), "<" + std::string(form.size(), '*') + ">") << form;
}

TEST(RedactionTest, Base64ThatHoldsTheValueAnywhereTellsNothingOfIt) {
  const ForbiddenTexts texts(credentials({kValue}));
  for (const std::string before : {"", "u", "us", "user:", "Bearer ", "xyz", "0123456789"}) {
    for (const std::string after : {"", "\n", "ab", "abc", "after it"}) {
      const std::string encoded = base64(before + kValue + after);
      const std::string out = redacted(texts, "\"" + encoded + "\"");
      ASSERT_EQ(out.size(), encoded.size() + 2);
      // Of the letters that hold bits of the value, only the one in front may be left: most of it is what stands
      // before.
      const size_t first = 1 + (8 * before.size() + 5) / 6,
                   last = 1 + (8 * (before.size() + std::strlen(kValue)) - 1) / 6;
      for (size_t i = first; i <= last; ++i) EXPECT_EQ(out[i], '*') << encoded << " " << out << " at " << i;
      EXPECT_EQ(out.front(), '"');
      EXPECT_EQ(out.back(), '"');
    }
  }
}

// How many bytes are through after each piece.
std::vector<size_t> passed(const std::shared_ptr<const ForbiddenTexts>& texts, const std::vector<std::string>& pieces) {
  Redactor redactor(texts);
  std::string out;
  std::vector<size_t> sizes;
  for (const std::string& piece : pieces) {
    redactor.pass(piece, out);
    sizes.push_back(out.size());
  }
  return sizes;
}

TEST(RedactionTest, LinesAndBinaryDataPassUntouchedAndAtOnce) {
  const auto texts = std::make_shared<const ForbiddenTexts>(credentials({kValue}));
  for (const std::string text : {"data: {\"token\": 17}\n\n", "Counting objects: 5%\r", "s3cr+\xff", "\x01 s3cr\x7f"}) {
    Redactor redactor(texts);
    std::string out;
    redactor.pass(text, out);
    EXPECT_EQ(out, text) << "an event of a stream waits for nothing";
  }
}

// Code that lets a server repeat its guesses, and looks where an answer was cut, must not see if one has begun well.
TEST(RedactionTest, WhereAStreamIsCutDoesNotTellIfAGuessIsRight) {
  for (const std::string format : {"{}", "Bearer {}"}) {
    const auto texts = std::make_shared<const ForbiddenTexts>(credentials({kValue}, format));
    for (const std::string before : {"", "Hello, ~", "Bearer ", "a line\nand "}) {
      for (const std::string& form : {std::string(kValue), percent_encoded(kValue), base64(kValue)}) {
        for (size_t known = 0; known < form.size(); ++known) {
          const std::string right = before + form.substr(0, known + 1), wrong = before + form.substr(0, known) + "~";
          EXPECT_EQ(passed(texts, {right, "b", "ye\n", right, std::string(500, 'x')}),
                    passed(texts, {wrong, "b", "ye\n", wrong, std::string(500, 'x')}))
              << right;
        }
      }
    }
  }
}

TEST(RedactionTest, OfAnUnfinishedLineAsMuchWaitsAsTheLongestFormHas) {
  const auto texts = std::make_shared<const ForbiddenTexts>(credentials({kValue}, "{}"));
  const size_t longest = 6 * std::strlen(kValue);  // &#x73; for each character
  EXPECT_EQ(passed(texts, {std::string(1000, 'x'), "y", "\n"}),
            (std::vector<size_t>{1000 - longest + 1, 1001 - longest + 1, 1002}));
}

TEST(RedactionTest, WhatWaitedComesAtTheEnd) {
  const auto texts = std::make_shared<const ForbiddenTexts>(credentials({kValue}, "{}"));
  Redactor redactor(texts);
  std::string out;
  redactor.pass("abc s3cr+", out);
  redactor.pass("x", out);
  redactor.pass("s3cr+t/V=lue&\"9", out);
  redactor.pass("s3", out);
  redactor.finish(out);
  EXPECT_EQ(out, "abc s3cr+x***************s3");
}

TEST(RedactionTest, AfterAnEndAnotherTextBegins) {
  const auto texts = std::make_shared<const ForbiddenTexts>(credentials({kValue}, "{}"));
  Redactor redactor(texts);
  std::string out;
  redactor.pass(base64(kValue).substr(0, 20), out);  // the letter behind it would be replaced
  redactor.finish(out);
  EXPECT_EQ(out, std::string(20, '*'));
  redactor.pass("next\n", out);
  EXPECT_EQ(out, std::string(20, '*') + "next\n");
}

// A value that is not visible text: then nothing is known to stand between values.
TEST(RedactionTest, AValueOfSeveralLinesIsFoundAllTheSame) {
  const auto texts = std::make_shared<const ForbiddenTexts>(credentials({"first line\nsecond"}, "{}"));
  Redactor redactor(texts);
  std::string out;
  redactor.pass("<first line\n", out);
  redactor.pass("second>", out);
  redactor.finish(out);
  EXPECT_EQ(out, "<" + std::string(17, '*') + ">");
}

TEST(RedactionTest, ValuesThatOverlapAreBothReplacedWhole) {
  const ForbiddenTexts texts(credentials({"abcdefgh", "efghijkl"}, "{}"));
  EXPECT_EQ(redacted(texts, "-abcdefghijkl-"), "-************-");
  const ForbiddenTexts same(credentials({"aaaaaaaa"}, "{}"));
  EXPECT_EQ(redacted(same, "baaaaaaaaaaab"), "b***********b");
}

TEST(RedactionTest, TheLastByteOfAValueIsReplacedWhateverItIs) {
  const ForbiddenTexts texts(credentials({"password!", "password!!"}, "{}"));
  EXPECT_EQ(redacted(texts, "password!?"), "*********?");
  EXPECT_EQ(redacted(texts, "password!!?"), "**********?");
}

// However a stream is cut, the same comes out.
TEST(RedactionTest, HoweverTheStreamIsCutTheSameComesOut) {
  const auto texts = std::make_shared<const ForbiddenTexts>(credentials({kValue, "aab-aab-aab", "aab-aabc"}));
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    while (text.size() < 120) {
      static const std::vector<std::string> kPieces = {kValue,
                                                       "aab-",
                                                       "aab",
                                                       "s3cr",
                                                       "Bearer ",
                                                       "a",
                                                       " ",
                                                       "\n",
                                                       "%2B",
                                                       base64(kValue),
                                                       base64(std::string("x") + kValue),
                                                       "Zz"};
      text += kPieces[random() % kPieces.size()];
    }
    const std::string whole = redacted(*texts, text);
    ASSERT_EQ(whole.size(), text.size());
    ASSERT_EQ(whole.find(kValue), std::string::npos);
    Redactor redactor(texts);
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + random() % 13;
      redactor.pass(std::string_view(text).substr(at, size), out);
      at += size;
    }
    redactor.finish(out);
    ASSERT_EQ(out, whole) << text;
  }
}

TEST(RedactionTest, ASingleByteAtATimeLeaksNothingOnTheWay) {
  const auto texts = std::make_shared<const ForbiddenTexts>(credentials({kValue}));
  Redactor redactor(texts);
  std::string out;
  for (const char c : std::string("Authorization: Bearer ") + kValue + "\r\n") redactor.pass({&c, 1}, out);
  redactor.finish(out);
  EXPECT_EQ(out, "Authorization: " + std::string(7 + std::strlen(kValue), '*') + "\r\n");
}

}  // namespace
}  // namespace bj
