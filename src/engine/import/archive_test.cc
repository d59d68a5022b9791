#include "engine/import/archive.h"

#include <gtest/gtest.h>

#include "engine/import/import_test_support.h"

namespace bj {
namespace {

using test::file;
using test::folder;
using test::make_tar;

struct Listing {
  std::vector<std::string> paths;
  std::string contents;
  StreamDigests digests;
};

Result<Listing> list(const std::string& bytes, const ImportLimits& limits = {}) {
  BJ_TRY(const Fd fd, anonymous_file("archive", bytes));
  BJ_TRY(const std::unique_ptr<TarReader> reader, TarReader::create(fd.get(), "test.tar", limits));
  Listing listing;
  for (;;) {
    BJ_TRY(const std::optional<ImportEntry> entry, reader->next());
    if (!entry) break;
    listing.paths.push_back(entry->path);
    BJ_CHECK(reader->read_data([&](uint64_t, std::string_view data) -> Result<void> {
      if (listing.contents.size() < 1000) listing.contents += data;
      return {};
    }));
  }
  BJ_TRY(listing.digests, reader->finish());
  return listing;
}

TEST(TarReaderTest, EveryCompressionGivesTheSameEntriesAndPlainDigest) {
  const std::vector<test::Item> items = {folder("etc"), file("etc/a", "one"), file("etc/b", "two")};
  const std::string plain = make_tar(items);
  for (const char* filter : {"none", "gzip", "xz", "bzip2", "zstd"}) {
    const std::string packed = make_tar(items, filter);
    const auto listing = list(packed);
    ASSERT_TRUE(listing) << filter << listing.error().what;
    EXPECT_EQ(listing->paths.size(), 3u);
    EXPECT_EQ(listing->contents, "onetwo");
    EXPECT_EQ(listing->digests.packed, sha256_hex(packed)) << filter;
    EXPECT_EQ(listing->digests.plain, sha256_hex(plain)) << filter;
    EXPECT_TRUE(listing->digests.ends_with_mark);
  }
}

TEST(TarReaderTest, BytesBehindTheArchiveBelongToItsDigest) {
  const std::string bytes = make_tar({file("a")}) + "behind";
  const auto listing = list(bytes);
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->digests.plain, sha256_hex(bytes));
  EXPECT_FALSE(listing->digests.ends_with_mark);
}

TEST(TarReaderTest, TruncatedDataNamesTheLastEntry) {
  std::string noise(200000, '\0');
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * i * 2654435761u >> 13);
  const std::string whole = make_tar({folder("usr"), file("usr/x", noise)}, "gzip");
  const auto listing = list(whole.substr(0, whole.size() / 2));
  ASSERT_FALSE(listing);
  EXPECT_NE(listing.error().what.find("damaged after entry 2 (usr/x): truncated gzip"), std::string::npos)
      << listing.error().what;
}

TEST(TarReaderTest, ABombStopsByItsRatio) {
  const std::string bomb = make_tar({file("zeros", std::string(300u << 20, '\0'))}, "gzip");
  const auto listing = list(bomb);
  ASSERT_FALSE(listing);
  EXPECT_EQ(listing.error().code, Code::kExhausted);
  EXPECT_NE(listing.error().what.find("times its size"), std::string::npos);
}

TEST(TarReaderTest, NothingIsReadBeyondTheLimitWhateverItUnpacksTo) {
  ImportLimits limits;
  limits.max_total_bytes = 1u << 20;
  limits.max_entries = 1;
  const auto listing = list(make_tar({file("a", std::string(4u << 20, 'x'))}), limits);
  ASSERT_FALSE(listing);
  EXPECT_EQ(listing.error().code, Code::kExhausted);
}

TEST(TarReaderTest, PackedTwiceIsRefused) {
  archive* out = archive_write_new();
  std::string bytes;
  archive_write_set_format_pax(out);
  archive_write_add_filter_gzip(out);
  archive_write_add_filter_gzip(out);
  archive_write_open(out, &bytes, nullptr, test::append_bytes, nullptr);
  test::write_item(out, file("a"));
  archive_write_close(out);
  archive_write_free(out);
  EXPECT_FALSE(list(bytes));
}

TEST(TarReaderTest, WhatIsNoTarIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(20000, 'x'),
                                   std::string("PK\x03\x04") + std::string(2000, 'z')}) {
    EXPECT_FALSE(list(bytes));
  }
}

TEST(SplitEntryPathTest, JudgesNames) {
  const ImportLimits limits;
  EXPECT_EQ(joined(*split_entry_path("/./usr//bin/./x/", limits)), "usr/bin/x");
  EXPECT_TRUE(split_entry_path("./", limits)->empty());
  EXPECT_TRUE(split_entry_path("...", limits));
  const std::string deep = [] {
    std::string path;
    for (int i = 0; i < 300; ++i) path += "d/";
    return path;
  }();
  for (const std::string& bad : {std::string(".."), std::string("a/.."), std::string("../a"), std::string("a/../b"),
                                 std::string("a\0b", 3), std::string(256, 'n'), std::string(5000, '/'), deep}) {
    EXPECT_FALSE(split_entry_path(bad, limits)) << printable(bad, 40);
  }
}

}  // namespace
}  // namespace bj
