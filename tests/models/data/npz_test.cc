#include "ringside/models/data/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zip.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/models/data/npy_array.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// As `numpy.save` writes it.
std::string Npy(const std::string& header, const std::string& bytes) {
  const std::string text = header + "\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(text.size() & 0xff);
  file += static_cast<char>(text.size() >> 8);
  return file + text + bytes;
}

std::string Header(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string RefusalOf(const std::string& file) {
  try {
    static_cast<void>(ParseNpy(file));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "taken";
}

TEST(ParseNpy, ReadsEveryType) {
  EXPECT_EQ(ParseNpy(Npy(Header("<f4", "(2,)"), Bytes<float>({1.5F, -2}))).At(1), -2);
  EXPECT_EQ(ParseNpy(Npy(Header("<f8", "(1,)"), Bytes<double>({0.1}))).At(0), 0.1);
  EXPECT_EQ(ParseNpy(Npy(Header("|u1", "(1,)"), "\xff")).IntegerAt(0), 255);
  EXPECT_EQ(ParseNpy(Npy(Header("<i4", "(1,)"), Bytes<std::int32_t>({-7}))).At(0), -7);
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(ParseNpy(Npy(Header("<i8", "(1,)"), Bytes<std::int64_t>({large}))).IntegerAt(0), large);
}

TEST(ParseNpy, ReadsShapes) {
  EXPECT_THAT(ParseNpy(Npy(Header("|u1", "()"), "x")).shape, ElementsAre());
  EXPECT_THAT(ParseNpy(Npy(Header("|u1", "(2, 3)"), "123456")).shape, ElementsAre(2, 3));
  EXPECT_THAT(ParseNpy(Npy(Header("|u1", "(0, 3)"), "")).shape, ElementsAre(0, 3));
  EXPECT_EQ(ParseNpy(Npy(Header("|u1", "(2, 3)"), "123456")).elements(), 6U);
}

TEST(ParseNpy, SaysWhatIsWrong) {
  EXPECT_THAT(RefusalOf(""), HasSubstr("no .npy array"));
  EXPECT_THAT(RefusalOf("\x93NUMPY\x09"), HasSubstr("no .npy array"));
  EXPECT_THAT(RefusalOf(std::string("\x93NUMPY\x09\x00\x05\x00{}  \n", 15)),
              HasSubstr("it is of version 9 of the format"));
  EXPECT_THAT(RefusalOf(Npy(Header("<c8", "(1,)"), "12345678")), HasSubstr("its type is '<c8'"));
  EXPECT_THAT(RefusalOf(Npy(Header(">f4", "(1,)"), "1234")), HasSubstr("little-endian"));
  EXPECT_THAT(RefusalOf(Npy(Header("<f4", "(2,)"), "1234")), HasSubstr("needs 8 bytes, and 4"));
  EXPECT_THAT(RefusalOf(Npy(Header("<f4", "(1,)"), "12345")), HasSubstr("needs 4 bytes, and 5"));
  EXPECT_THAT(RefusalOf(Npy(Header("<f4", "(1, 1, 1, 1, 1)"), "1234")), HasSubstr("4 dimensions"));
  EXPECT_THAT(RefusalOf(Npy(Header("<f4", "(4294967296, 4294967296)"), "")),
              HasSubstr("too large"));
  EXPECT_THAT(RefusalOf(Npy(Header("<f4", "(-1,)"), "")), HasSubstr("no list of numbers"));
  EXPECT_THAT(RefusalOf(Npy("{'descr': '<f4', 'shape': (1,), }", "1234")), HasSubstr("lacks"));
  EXPECT_THAT(RefusalOf(Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "1234")),
              HasSubstr("it is in Fortran order; save numpy.ascontiguousarray(x)"));
  EXPECT_THAT(RefusalOf(Npy("{'descr': [('a', '<f4')], }", "1234")), HasSubstr("its header"));
  std::string cut = Npy(Header("<f4", "(1,)"), "");
  cut[8] = '\x7f';
  EXPECT_THAT(RefusalOf(cut), HasSubstr("cut off"));
}

std::string LittleEndian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

/// An archive with one packed member of two bytes, which claims to be `claim` bytes long. A size
/// beyond 4 GiB stands in an extra field.
std::string Bomb(const std::string& name, std::uint64_t claim) {
  constexpr std::uint64_t kIsInTheExtraField = 0xffffffff;
  const std::string data("\x03\x00", 2);
  const std::string header = LittleEndian(45, 2) + LittleEndian(0, 2) +
                             LittleEndian(ZIP_CM_DEFLATE, 2) + LittleEndian(0, 8) +
                             LittleEndian(data.size(), 4) + LittleEndian(kIsInTheExtraField, 4) +
                             LittleEndian(name.size(), 2);
  const std::string local = "PK\x03\x04" + header + LittleEndian(20, 2) + name +
                            LittleEndian(1, 2) + LittleEndian(16, 2) + LittleEndian(claim, 8) +
                            LittleEndian(data.size(), 8) + data;
  const std::string central = "PK\x01\x02" + LittleEndian(45, 2) + header + LittleEndian(12, 2) +
                              LittleEndian(0, 14) + name + LittleEndian(1, 2) + LittleEndian(8, 2) +
                              LittleEndian(claim, 8);
  return local + central + "PK\x05\x06" + LittleEndian(0, 4) + LittleEndian(1, 2) +
         LittleEndian(1, 2) + LittleEndian(central.size(), 4) + LittleEndian(local.size(), 4) +
         LittleEndian(0, 2);
}

class NpzTest : public ::testing::Test {
 protected:
  using Arrays = std::map<std::string, std::string>;

  std::string Write(const Arrays& arrays) const {
    const std::string path = folder_.Path("data.npz");
    int error = 0;
    zip_t* zip = ::zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
    EXPECT_NE(zip, nullptr);
    for (const auto& [name, bytes] : arrays) {
      zip_source_t* source = ::zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
      EXPECT_GE(::zip_file_add(zip, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8), 0);
    }
    EXPECT_EQ(::zip_close(zip), 0);
    return path;
  }

  std::string Refusal(const Arrays& arrays) const {
    try {
      MakeNpz(Write(arrays));
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("data.npz"));
      return error.what();
    }
    return "taken";
  }

  static Arrays Classes() {
    return {{"x_train", Npy(Header("<f4", "(3, 2)"), Bytes<float>({1, 2, 3, 4, 5, 6}))},
            {"y_train", Npy(Header("<i8", "(3,)"), Bytes<std::int64_t>({0, 2, 1}))},
            {"x_test", Npy(Header("<f8", "(1, 2)"), Bytes<double>({7, 8}))},
            {"y_test", Npy(Header("|u1", "(1,)"), std::string(1, '\x02'))}};
  }

  TemporaryDirectory folder_;
};

TEST_F(NpzTest, ReadsClasses) {
  const auto data = MakeNpz(Write(Classes()));
  EXPECT_EQ(data->size(Split::kTrain), 3U);
  EXPECT_EQ(data->size(Split::kTest), 1U);
  EXPECT_EQ(data->classes(), 3);
  EXPECT_EQ(data->targets(), 0U);
  EXPECT_FALSE(data->integer_inputs());
  EXPECT_EQ(data->shape(), (SampleShape{1, 1, 2, 1})) << "samples have one dimension";
  std::vector<float> sample(2);
  EXPECT_EQ(data->Read(Split::kTrain, 1, sample), 2);
  EXPECT_THAT(sample, ElementsAre(3, 4));
  EXPECT_EQ(data->Read(Split::kTest, 0, sample), 2);
  EXPECT_THAT(sample, ElementsAre(7, 8));
}

TEST_F(NpzTest, ReadsNumbersAsAnswersAndIntegersAsInputs) {
  const auto data =
      MakeNpz(Write({{"x_train", Npy(Header("<i4", "(2, 1, 2, 2)"),
                                     Bytes<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8}))},
                     {"y_train", Npy(Header("<f4", "(2, 2)"), Bytes<float>({0.5, 1, 1.5, 2}))}}));
  EXPECT_EQ(data->size(Split::kTest), 0U);
  EXPECT_EQ(data->targets(), 2U);
  EXPECT_TRUE(data->integer_inputs());
  EXPECT_EQ(data->shape(), (SampleShape{1, 2, 2}));
  std::vector<std::int64_t> sample(4);
  data->ReadIntegers(Split::kTrain, 1, sample);
  EXPECT_THAT(sample, ElementsAre(5, 6, 7, 8));
  std::vector<float> targets(2);
  data->ReadTargets(Split::kTrain, 1, targets);
  EXPECT_THAT(targets, ElementsAre(1.5, 2));
  EXPECT_EQ(data->Read(Split::kTrain, 0, {}), 0);
}

TEST_F(NpzTest, SaysWhatIsWrong) {
  const auto with = [](const std::string& name, const std::string& bytes) {
    Arrays arrays = Classes();
    arrays[name] = bytes;
    return arrays;
  };
  const auto without = [](const std::string& name) {
    Arrays arrays = Classes();
    arrays.erase(name);
    return arrays;
  };
  EXPECT_THAT(Refusal(without("x_train")), HasSubstr("no array 'x_train'"));
  EXPECT_THAT(Refusal(without("y_test")), HasSubstr("no array 'y_test'"));
  EXPECT_THAT(Refusal(with("x_train", "nonsense")), HasSubstr("array 'x_train': it is no .npy"));
  EXPECT_THAT(Refusal(with("y_train", Npy(Header("<i8", "(1,)"), Bytes<std::int64_t>({0})))),
              HasSubstr("as many rows"));
  EXPECT_THAT(Refusal(with("y_train", Npy(Header("<i8", "(3,)"), Bytes<std::int64_t>({0, -1, 1})))),
              HasSubstr("sample 1 has the class -1"));
  EXPECT_THAT(Refusal(with("y_test", Npy(Header("<i8", "(1,)"), Bytes<std::int64_t>({3})))),
              HasSubstr("which y_train does not have"));
  EXPECT_THAT(Refusal(with("y_test", Npy(Header("<f4", "(1,)"), Bytes<float>({3})))),
              HasSubstr("of another kind"));
  EXPECT_THAT(Refusal(with("x_test", Npy(Header("<f4", "(1, 3)"), Bytes<float>({3, 4, 5})))),
              HasSubstr("of another kind"));
  EXPECT_THAT(Refusal(with("x_train", Npy(Header("<f4", "(0, 2)"), ""))), HasSubstr("no samples"));
  EXPECT_THAT(Refusal({{"x_train", Npy(Header("<f4", "(1, 1)"), Bytes<float>({1}))},
                       {"y_train", Npy(Header("<f4", "(1,)"), Bytes<float>({HUGE_VALF}))}}),
              HasSubstr("array 'y_train': row 0 has a number that is not finite"));
  EXPECT_THAT(Refusal(with("x_train", Npy(Header("<f4", "(3, 2)"),
                                          Bytes<float>({1, 2, 3, 4, std::nanf(""), 6})))),
              HasSubstr("array 'x_train': row 2 has a number that is not finite"));
  EXPECT_THAT(Refusal(with("x_test", Npy(Header("<f8", "(1, 2)"), Bytes<double>({1, -HUGE_VAL})))),
              HasSubstr("array 'x_test': row 0 has a number that is not finite"));
  EXPECT_THAT(Refusal(with("x_test", Npy(Header("<f8", "(1, 2)"), Bytes<double>({1, 1e300})))),
              HasSubstr("not finite in float32"));
  std::ofstream(folder_.Path("none.npz")) << "this is no archive";
  EXPECT_THROW(MakeNpz(folder_.Path("none.npz")), DataError);
  EXPECT_THROW(MakeNpz(folder_.Path("absent.npz")), DataError);
}

TEST_F(NpzTest, TakesNoMemoryForWhatAnArchiveOnlyClaims) {
  const std::string path = folder_.Path("data.npz");
  std::ofstream(path, std::ios::binary) << Bomb("x_train.npy", 100'000'000'000);
  EXPECT_THAT([&] { MakeNpz(path); },
              ThrowsMessage<DataError>(HasSubstr("the archive says that it has 100000000000 bytes, "
                                                 "which a file of 154 bytes cannot hold")));
  // Zeros pack well, and the header tells of 6 numbers.
  Arrays zeros = Classes();
  zeros["x_train"] += std::string(std::size_t{8} << 20, '\0');
  EXPECT_THAT(Refusal(zeros), HasSubstr("array 'x_train': its shape needs"));
  EXPECT_THAT([&] { MakeNpz(Write(Classes()), 64); },
              ThrowsMessage<DataError>(HasSubstr("bytes of memory, and 64 are available")));
}

TEST_F(NpzTest, DoesNotWaitForAFifo) {
  ASSERT_EQ(::mkfifo(folder_.Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { MakeNpz(folder_.Path("pipe")); },
              ThrowsMessage<DataError>(HasSubstr("is a FIFO")));
}

}  // namespace
}  // namespace ringside
