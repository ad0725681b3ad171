#include "ringside/experiments/checkpoint/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <filesystem>
#include <limits>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/sha256.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/checkpoint/checkpoint_testing.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string LengthOf(const std::string& header) {
  const auto bytes = std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
  return {bytes.begin(), bytes.end()};
}

class TensorFileTest : public ::testing::Test {
 protected:
  TensorFileTest() {
    const std::array sections{TensorSection{"parameters", {{"w", {2, 2}}, {"b", {1}}}, values_},
                              TensorSection{"empty", {}, {}},
                              TensorSection{"scalar", {{"s", {}}}, std::span(values_).first(1)},
                              TensorSection{"none", {{"n", {0, 3}}}, {}}};
    digest_ = WriteTensorFile(path_, {{"step", "3"}, {"quoted", "a \"b\" \\ \n"}}, sections);
    content_ = ReadFile(path_, 1 << 20);
  }

  std::string ErrorOf(const std::string& content) const {
    Overwrite(path_, content);
    try {
      const TensorFileReader reader(path_);
      for (const auto& section : reader.sections()) reader.Read(section);
    } catch (const DataError& error) {
      return error.what();
    }
    return {};
  }

  /// A file whose header is `header` with its right checksum.
  std::string Signed(std::string header, const std::string& data = {}) const {
    header.resize((header.size() + 7) / 8 * 8, ' ');
    // The writer knows how to sign; this takes its digest for the same text.
    const std::string zeros(64, '0');
    const std::size_t at = header.find(zeros);
    const std::string text = LengthOf(header) + header;
    header.replace(at, 64, Sha256Hex(std::as_bytes(std::span(text))));
    return LengthOf(header) + header + data;
  }
  std::string Header(const std::string& metadata, const std::string& tensors) const {
    return "{\"__metadata__\":{\"header_sha256\":\"" + std::string(64, '0') + "\"" + metadata +
           "}" + tensors + "}";
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.Path("file");
  const std::vector<float> values_{1, 2, 3, 4, 5};
  std::string digest_;
  std::string content_;
};

TEST_F(TensorFileTest, ComesBackAsItWas) {
  const TensorFileReader reader(path_);
  EXPECT_EQ(reader.digest(), digest_);
  EXPECT_EQ(reader.metadata(), (TensorFileMetadata{{"step", "3"}, {"quoted", "a \"b\" \\ \n"}}));
  ASSERT_EQ(reader.sections().size(), 3U);
  EXPECT_EQ(reader.Find("empty"), nullptr);
  const auto* parameters = reader.Find("parameters");
  ASSERT_NE(parameters, nullptr);
  EXPECT_THAT(parameters->tensors, ElementsAre(NamedShape{"w", {2, 2}}, NamedShape{"b", {1}}));
  EXPECT_EQ(reader.Read(*parameters), values_);
  EXPECT_EQ(reader.Read(*reader.Find("scalar")), std::vector<float>{1});
  EXPECT_TRUE(reader.Read(*reader.Find("none")).empty());
}

TEST_F(TensorFileTest, TheSameContentHasTheSameDigest) {
  const std::array sections{TensorSection{"p", {{"w", {5}}}, values_}};
  const auto digest = [&] { return WriteTensorFile(path_, {{"a", "b"}}, sections); };
  const std::string first = digest();
  EXPECT_EQ(digest(), first);
  EXPECT_NE(WriteTensorFile(path_, {{"a", "c"}}, sections), first);
}

TEST_F(TensorFileTest, EveryTruncationAndEveryAppendixIsSeen) {
  for (std::size_t size = 0; size < content_.size(); ++size) {
    EXPECT_NE(ErrorOf(content_.substr(0, size)), "") << size << " bytes";
  }
  EXPECT_THAT(ErrorOf(content_ + "x"), HasSubstr("the end of the file"));
}

TEST_F(TensorFileTest, DamageIsNamedWithItsPlace) {
  std::string damaged = content_;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_THAT(ErrorOf(damaged), HasSubstr("4 bytes of section 'scalar'"));
  EXPECT_THAT(ErrorOf(damaged),
              HasSubstr("at byte " + std::to_string(content_.size() - sizeof(float))));
}

// The file says that it needs more memory than there is.
TEST_F(TensorFileTest, LengthsAreCheckedBeforeMemoryIsTaken) {
  std::string header = content_;
  const auto length = std::bit_cast<std::array<char, 8>>(std::numeric_limits<std::uint64_t>::max());
  header.replace(0, 8, std::string(length.begin(), length.end()));
  EXPECT_THAT(ErrorOf(header), HasSubstr("the length of a header"));

  for (const char* shape :
       {"[4611686018427387904]", "[4294967296,4294967296]", "[-1]",
        "[9223372036854775807,9223372036854775807]", "[1.5]", "[\"1\"]", "[6]"}) {
    const std::string tensors =
        ",\"p/w\":{\"dtype\":\"F32\",\"shape\":" + std::string(shape) + ",\"data_offsets\":[0,20]}";
    EXPECT_NE(ErrorOf(Signed(Header(",\"sha256/p\":\"x\"", tensors), std::string(20, '\0'))), "")
        << shape;
  }
}

TEST_F(TensorFileTest, HeadersThatAreSignedButWrongAreRefused) {
  const std::string digests = ",\"sha256/p\":\"x\",\"sha256/q\":\"x\"";
  const auto tensor = [](const std::string& name, int begin, int end) {
    return ",\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" +
           std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  const std::string four(4, '\0'), eight(8, '\0'), twelve(12, '\0');
  EXPECT_THAT(ErrorOf(Signed(Header(digests, tensor("w", 0, 4)), four)), HasSubstr("a section"));
  EXPECT_THAT(ErrorOf(Signed(Header("", tensor("p/w", 0, 4)), four)), HasSubstr("a checksum of"));
  EXPECT_THAT(ErrorOf(Signed(Header(digests, tensor("p/w", 4, 8)), eight)), HasSubstr("[0,4]"));
  EXPECT_THAT(ErrorOf(Signed(
                  Header(digests, tensor("p/a", 0, 4) + tensor("q/b", 4, 8) + tensor("p/c", 8, 12)),
                  twelve)),
              HasSubstr("one after the other"));
  EXPECT_THAT(ErrorOf(Signed(Header(",\"x\":1", ""))), HasSubstr("texts in __metadata__"));
  EXPECT_THAT(ErrorOf(Signed(Header(digests, ",\"p/w\":7"))), HasSubstr("an F32 tensor"));
  EXPECT_THAT(ErrorOf(Signed(Header("", "") + "x")), HasSubstr("a JSON header"));
  EXPECT_THAT(ErrorOf(Signed("[\"header_sha256\":\"" + std::string(64, '0') + "\"]")),
              HasSubstr("a JSON header"));
  const std::string unsigned_header = "{\"__metadata__\":{}}     ";
  EXPECT_THAT(ErrorOf(LengthOf(unsigned_header) + unsigned_header), HasSubstr("with its checksum"));
}

TEST_F(TensorFileTest, AHeaderThatIsTooLongIsNotWritten) {
  const TensorFileMetadata metadata{{"long", std::string(kMaxTensorFileHeader, 'x')}};
  EXPECT_THROW(WriteTensorFile(path_, metadata, {}), ConfigError);
  EXPECT_EQ(ReadFile(path_, 1 << 20), content_);
}

TEST_F(TensorFileTest, OnlyARegularFileIsOpened) {
  EXPECT_THROW(TensorFileReader{directory_.path()}, DataError);
  EXPECT_THROW(TensorFileReader{directory_.Path("missing")}, DataError);
  const std::string pipe = directory_.Path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(TensorFileReader{pipe}, DataError);  // it does not wait for a writer
}

}  // namespace
}  // namespace ringside
