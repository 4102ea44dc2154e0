#pragma once

// Every op. Each header is the menu of its family; the source beside it holds, for each op, the
// value, the formula and the rules in one function.

#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/functions.hpp>
#include <microtape/tape/ops/index.hpp>
#include <microtape/tape/ops/linalg.hpp>
#include <microtape/tape/ops/losses.hpp>
#include <microtape/tape/ops/normalize.hpp>
#include <microtape/tape/ops/reduce.hpp>
#include <microtape/tape/ops/shape.hpp>
