#include <limits>
#include <locale>
#include <sstream>

#include <microtape/core/error.hpp>
#include <microtape/core/tensor.hpp>

#include "catch.hpp"

// The expected texts are what NumPy 1.24 prints: np.array2string(a) with its defaults.

using namespace microtape;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a scalar prints as the number alone") {
  CHECK(Tensor::of(0.5).str() == "0.5");
  CHECK(Tensor::of(3).str() == "3.");
  CHECK(Tensor::of(-7, int64).str() == "-7");
  CHECK(Tensor::of(0.1).str() == "0.1");
  CHECK(Tensor::of(1e10).str() == "1.e+10");
  CHECK(Tensor::of(kNan).str() == "nan");
  CHECK(Tensor::of(-kInf, float64).str() == "-inf");
}

TEST_CASE("columns are aligned at the point and end in spaces, not zeros") {
  CHECK(Tensor::of({0.5, 0.25}).str() == "[0.5  0.25]");
  CHECK(Tensor::of({1, 2, 3}).str() == "[1. 2. 3.]");
  CHECK(Tensor::of({1, -1.5, 100}).str() == "[  1.   -1.5 100. ]");
  CHECK(Tensor::of({{0.5, 0.25}, {1, -3}}, float64).str() ==
        R"([[ 0.5   0.25]
 [ 1.   -3.  ]])");
  CHECK(Tensor::of({0, -0.0}).str() == "[ 0. -0.]");
  CHECK(Tensor::of({0, 0, 0}).str() == "[0. 0. 0.]");
  CHECK(Tensor::of({0.0001, 0.001}, float64).str() == "[0.0001 0.001 ]");
  CHECK(Tensor::of({99999999, 1000000}, float64).str() == "[99999999.  1000000.]");
}

TEST_CASE("a number has the fewest digits that tell it apart in its own dtype, at most eight") {
  CHECK(Tensor::of({0.1, 0.2, 0.3}).str() == "[0.1 0.2 0.3]");
  CHECK(Tensor::of({0.1, 0.2, 0.3}).to(float64).str() == "[0.1        0.2        0.30000001]");
  CHECK(Tensor::of({1.0 / 3, 2.0 / 3, 1}).str() == "[0.33333334 0.6666667  1.        ]");
  CHECK(Tensor::of({1.0 / 3, 2.0 / 3, 1}, float64).str() == "[0.33333333 0.66666667 1.        ]");
  CHECK(Tensor::of({1.005, 2.123456789012}, float64).str() == "[1.005      2.12345679]");
  CHECK(Tensor::of({0.123456785, 0.5}, float64).str() == "[0.12345678 0.5       ]");
  CHECK(Tensor::of({-9.999999999, 0.5}, float64).str() == "[-10.    0.5]");
  CHECK(Tensor::of({16777216, 100000}).str() == "[16777216.   100000.]");
  CHECK(Tensor::of({99999992, 1000000}).str() == "[99999992.  1000000.]");
}

TEST_CASE("numbers that are large, small or far apart are written with exponents") {
  CHECK(Tensor::of({1, 1000}, float64).str() == "[   1. 1000.]");
  CHECK(Tensor::of({1, 1001}, float64).str() == "[1.000e+00 1.001e+03]");
  CHECK(Tensor::of({0.00009, 0.0001}, float64).str() == "[9.e-05 1.e-04]");
  CHECK(Tensor::of({1e8, 1}, float64).str() == "[1.e+08 1.e+00]");
  CHECK(Tensor::of({1e100, -2.5}, float64).str() == "[ 1.0e+100 -2.5e+000]");
  CHECK(Tensor::of({1e-300, 1e300, 0}, float64).str() == "[1.e-300 1.e+300 0.e+000]");
  CHECK(Tensor::of({5e-324, 1.7976931348623157e308}, float64).str() ==
        "[4.94065646e-324 1.79769313e+308]");
  CHECK(Tensor::of({3.4028235e38, 1e-45}).str() == "[3.4028235e+38 1.4012985e-45]");
  CHECK(Tensor::of({0.001, 1}).str() == "[0.001 1.   ]");
  CHECK(Tensor::of({1.999999999999e10, 1}, float64).str() == "[2.e+10 1.e+00]");
}

TEST_CASE("nan and the infinities keep the columns") {
  CHECK(Tensor::of({kNan, 1, -kInf}).str() == "[ nan   1. -inf]");
  CHECK(Tensor::of({kInf, 0.25}).str() == "[ inf 0.25]");
  CHECK(Tensor::of({kNan, kInf}).str() == "[nan inf]");
  CHECK(Tensor::of({kNan, -kInf}).str() == "[ nan -inf]");
  CHECK(Tensor::of({kNan, 1e10, -kInf}, float64).str() == "[   nan 1.e+10   -inf]");
  CHECK(Tensor::of({kNan, 123456.789}, float64).str() == "[       nan 123456.789]");
}

TEST_CASE("integers have no point") {
  CHECK(Tensor::of({{1, -20}, {300, 4}}, int64).str() ==
        R"([[  1 -20]
 [300   4]])");
  CHECK(Tensor::of({0, 1, 1}, int64).str() == "[0 1 1]");
  CHECK(Tensor::arange(100, 140, 1, int64).str() ==
        R"([100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117
 118 119 120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135
 136 137 138 139])");
}

TEST_CASE("matrices and their stacks nest in brackets") {
  CHECK(Tensor::of({{{2.5}}}).str() == "[[[2.5]]]");
  CHECK(Tensor::arange(0, 12).reshape({2, 2, 3}).str() ==
        R"([[[ 0.  1.  2.]
  [ 3.  4.  5.]]

 [[ 6.  7.  8.]
  [ 9. 10. 11.]]])");
  CHECK(Tensor::arange(0, 8, 1, int64).reshape({2, 1, 2, 2}).str() ==
        R"([[[[0 1]
   [2 3]]]


 [[[4 5]
   [6 7]]]])");
  CHECK(Tensor::arange(0, 12).reshape({3, 4}).transpose().str() ==
        R"([[ 0.  4.  8.]
 [ 1.  5.  9.]
 [ 2.  6. 10.]
 [ 3.  7. 11.]])");
  CHECK(Tensor::of({1, 2}).broadcast_to({2, 2}).str() ==
        R"([[1. 2.]
 [1. 2.]])");
}

TEST_CASE("rows longer than 75 characters are broken") {
  CHECK(Tensor::arange(0, 7.5, 0.25).str() ==
        R"([0.   0.25 0.5  0.75 1.   1.25 1.5  1.75 2.   2.25 2.5  2.75 3.   3.25
 3.5  3.75 4.   4.25 4.5  4.75 5.   5.25 5.5  5.75 6.   6.25 6.5  6.75
 7.   7.25])");
  CHECK(Tensor::arange(0, 7.5, 0.125).reshape({2, 30}).str() ==
        R"([[0.    0.125 0.25  0.375 0.5   0.625 0.75  0.875 1.    1.125 1.25  1.375
  1.5   1.625 1.75  1.875 2.    2.125 2.25  2.375 2.5   2.625 2.75  2.875
  3.    3.125 3.25  3.375 3.5   3.625]
 [3.75  3.875 4.    4.125 4.25  4.375 4.5   4.625 4.75  4.875 5.    5.125
  5.25  5.375 5.5   5.625 5.75  5.875 6.    6.125 6.25  6.375 6.5   6.625
  6.75  6.875 7.    7.125 7.25  7.375]])");
  CHECK(Tensor::arange(0, 23, 1, int64).str() ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22]");
  CHECK(Tensor::arange(0, 29, 1, int64).reshape({1, 1, 29}).str() ==
        R"([[[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22
   23 24 25 26 27 28]]])");
}

TEST_CASE("more than 1000 numbers are cut to three at each edge") {
  CHECK(Tensor::arange(0, 1001, 1, int64).str() == "[   0    1    2 ...  998  999 1000]");
  CHECK(Tensor::arange(0, 1001).str() == "[   0.    1.    2. ...  998.  999. 1000.]");
  CHECK(Tensor::arange(0, 1200, 1, int64).reshape({40, 30}).str() ==
        R"([[   0    1    2 ...   27   28   29]
 [  30   31   32 ...   57   58   59]
 [  60   61   62 ...   87   88   89]
 ...
 [1110 1111 1112 ... 1137 1138 1139]
 [1140 1141 1142 ... 1167 1168 1169]
 [1170 1171 1172 ... 1197 1198 1199]])");
  CHECK(Tensor::arange(0, 1200, 1, int64).reshape({2, 600}).str() ==
        R"([[   0    1    2 ...  597  598  599]
 [ 600  601  602 ... 1197 1198 1199]])");
  CHECK(Tensor::arange(0, 600, 0.5).reshape({600, 2}).str() ==
        R"([[0.000e+00 5.000e-01]
 [1.000e+00 1.500e+00]
 [2.000e+00 2.500e+00]
 ...
 [5.970e+02 5.975e+02]
 [5.980e+02 5.985e+02]
 [5.990e+02 5.995e+02]])");
  CHECK(Tensor::arange(0, 1470, 1, int64).reshape({7, 7, 30}).slice(0, 0, 6).str() ==
        R"([[[   0    1    2 ...   27   28   29]
  [  30   31   32 ...   57   58   59]
  [  60   61   62 ...   87   88   89]
  ...
  [ 120  121  122 ...  147  148  149]
  [ 150  151  152 ...  177  178  179]
  [ 180  181  182 ...  207  208  209]]

 [[ 210  211  212 ...  237  238  239]
  [ 240  241  242 ...  267  268  269]
  [ 270  271  272 ...  297  298  299]
  ...
  [ 330  331  332 ...  357  358  359]
  [ 360  361  362 ...  387  388  389]
  [ 390  391  392 ...  417  418  419]]

 [[ 420  421  422 ...  447  448  449]
  [ 450  451  452 ...  477  478  479]
  [ 480  481  482 ...  507  508  509]
  ...
  [ 540  541  542 ...  567  568  569]
  [ 570  571  572 ...  597  598  599]
  [ 600  601  602 ...  627  628  629]]

 [[ 630  631  632 ...  657  658  659]
  [ 660  661  662 ...  687  688  689]
  [ 690  691  692 ...  717  718  719]
  ...
  [ 750  751  752 ...  777  778  779]
  [ 780  781  782 ...  807  808  809]
  [ 810  811  812 ...  837  838  839]]

 [[ 840  841  842 ...  867  868  869]
  [ 870  871  872 ...  897  898  899]
  [ 900  901  902 ...  927  928  929]
  ...
  [ 960  961  962 ...  987  988  989]
  [ 990  991  992 ... 1017 1018 1019]
  [1020 1021 1022 ... 1047 1048 1049]]

 [[1050 1051 1052 ... 1077 1078 1079]
  [1080 1081 1082 ... 1107 1108 1109]
  [1110 1111 1112 ... 1137 1138 1139]
  ...
  [1170 1171 1172 ... 1197 1198 1199]
  [1200 1201 1202 ... 1227 1228 1229]
  [1230 1231 1232 ... 1257 1258 1259]]])");
  CHECK(Tensor::arange(0, 1400, 1, int64).reshape({700, 2, 1}).str() ==
        R"([[[   0]
  [   1]]

 [[   2]
  [   3]]

 [[   4]
  [   5]]

 ...

 [[1394]
  [1395]]

 [[1396]
  [1397]]

 [[1398]
  [1399]]])");
}

TEST_CASE("the largest and the smallest int64 keep all their digits") {
  Tensor x = Tensor::zeros({2}, int64);
  x.mutable_data<std::int64_t>()[0] = std::numeric_limits<std::int64_t>::min();
  x.mutable_data<std::int64_t>()[1] = std::numeric_limits<std::int64_t>::max();
  CHECK(x.str() == "[-9223372036854775808  9223372036854775807]");
}

TEST_CASE("1000 numbers are printed in full") {
  const std::string text = Tensor::arange(0, 1000, 1, int64).str();
  CHECK(text.find("...") == std::string::npos);
  CHECK(text.find(" 499 500 ") != std::string::npos);
  CHECK(text.size() == 4056);
}

TEST_CASE("an empty Tensor prints its shape") {
  CHECK(Tensor::zeros({0}).str() == "[] (shape [0])");
  CHECK(Tensor::zeros({0, 3}, int64).str() == "[] (shape [0, 3])");
  CHECK(Tensor::zeros({2, 0, 3}).str() == "[] (shape [2, 0, 3])");
}

TEST_CASE("a Tensor without a value does not print") {
  CHECK_THROWS_AS(Tensor().str(), ValueError);
}

TEST_CASE("the locale of a stream does not change what is printed") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::ostringstream out;
  out.imbue(std::locale(std::locale::classic(), new Comma));
  out << Tensor::of({1234.5, 0.25}, float64) << Tensor::of({1234567}, int64);
  CHECK(out.str() == "[1.2345e+03 2.5000e-01][1234567]");
}
