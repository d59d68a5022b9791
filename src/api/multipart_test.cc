#include "api/multipart.h"

#include <gtest/gtest.h>

#include <vector>

namespace bj {
namespace {

struct Part {
  std::string name, file_name, content;
  bool operator==(const Part&) const = default;
};

// Fed in pieces of `step` bytes.
Result<std::vector<Part>> parts_of(const std::string& body, size_t step) {
  using Event = MultipartReader::Event;
  MultipartReader reader("XX");
  std::vector<Part> parts;
  size_t at = 0;
  for (;;) {
    BJ_TRY(const Event event, reader.next());
    if (event == Event::kEnd) return parts;
    if (event == Event::kNeedMore) {
      if (at >= body.size()) return fail(Code::kInvalid, "cut off");
      reader.feed(std::string_view(body).substr(at, step));
      at += step;
    }
    if (event == Event::kPart) parts.push_back({reader.head().name, reader.head().file_name.value_or("-"), ""});
    if (event == Event::kData) parts.back().content += reader.data();
  }
}

const std::string kBody =
    "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/tmp/a b%22.txt\"\r\nContent-Type: x/y\r\n\r\n"
    "one\r\n--XY\r\n-\r\n--XX\r\nContent-Disposition: form-data; name=other\r\n\r\n\r\n--XX--\r\n";

TEST(MultipartTest, PartsComeWholeHoweverTheyArrive) {
  const std::vector<Part> expected = {{"file", "/tmp/a b\".txt", "one\r\n--XY\r\n-"}, {"other", "-", ""}};
  for (const size_t step : {1, 2, 3, 7, 1000}) {
    const auto parts = parts_of(kBody, step);
    ASSERT_TRUE(parts) << step;
    EXPECT_EQ(*parts, expected) << step;
  }
}

TEST(MultipartTest, ABodyThatEndsEarlyIsNoBody) {
  EXPECT_FALSE(parts_of(kBody.substr(0, kBody.size() - 6), 5));
  EXPECT_FALSE(parts_of("--XXjunk\r\n\r\n", 100));
  EXPECT_FALSE(parts_of("--XX\r\n" + std::string(20'000, 'a'), 1000));
}

TEST(MultipartTest, TheBoundaryStandsInTheContentType) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=----abc"), "----abc");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=x; boundary=\"a;b\""), "a;b");
  EXPECT_FALSE(multipart_boundary("multipart/form-data"));
  EXPECT_FALSE(multipart_boundary("application/json; boundary=x"));
}

TEST(MultipartTest, ABackslashInANameIsItselfUnlessItEscapes) {
  const std::string body =
      "--XX\r\n"
      R"(Content-Disposition: form-data; name="f"; filename="a\b\"c\\d")"
      "\r\n\r\nx\r\n--XX--\r\n";
  const auto parts = parts_of(body, 1000);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->front().file_name, R"(a\b"c\d)");
}

TEST(MultipartTest, AnExtendedFileNameComesBeforeThePlainOne) {
  const auto name_of = [](const std::string& parameters) {
    const auto parts =
        parts_of("--XX\r\nContent-Disposition: form-data; name=f; " + parameters + "\r\n\r\nx\r\n--XX--\r\n", 1000);
    return parts ? parts->front().file_name : "no parts";
  };
  EXPECT_EQ(name_of("filename*=UTF-8''%C5%BElu%20t.txt"), "\u017elu t.txt");
  EXPECT_EQ(name_of("filename*=utf-8'cs'%C5%BE; filename=\"z\""), "\u017e");
  EXPECT_EQ(name_of("filename=\"z\"; filename*=UTF-8''%C5%BE"), "\u017e");
  EXPECT_EQ(name_of("filename=\"z\"; filename*=koi8-r''%C5"), "z");
}

}  // namespace
}  // namespace bj
