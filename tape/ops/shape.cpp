#include <microtape/tape/ops/shape.hpp>

#include <algorithm>
#include <limits>

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/layout.hpp>
#include <microtape/core/kernels/reduce.hpp>

namespace microtape {
namespace {

constexpr Index kMostIndex = std::numeric_limits<Index>::max();

}  // namespace

Var broadcast_to(const Var& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record({"broadcast_to", R"(\operatorname{broadcast}(@x))", {{"shape", shape}}},
      [&] { return x.value().broadcast_to(shape); },
      {
          {"x", x, R"(\operatorname{sumto}(@g))",
              [s = x.shape()](const Var& g) { return sum_to(g, s); }},
      });
}

Var sum_to(const Var& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record({"sum_to", R"(\operatorname{sumto}(@x))", {{"shape", shape}}},
      [&] { return kernels::sum_to(x.value(), shape); },
      {
          {"x", x, R"(\operatorname{broadcast}(@g))",
              [s = x.shape()](const Var& g) { return broadcast_to(g, s); }},
      });
}

Var reshape(const Var& x, const Indices& extents) {
  const Shape shape = in_scope_of(x, [&] { return infer_shape(x.shape(), extents); });
  if (x.shape() == shape) return x;
  return record({"reshape", R"(\operatorname{reshape}(@x))", {{"extents", shape}}},
      [&] { return x.value().reshape(shape); },
      {
          {"x", x, R"(\operatorname{reshape}(@g))",
              [s = x.shape()](const Var& g) { return reshape(g, s); }},
      });
}

Var permute(const Var& x, const Indices& order) {
  const Indices forward = in_scope_of(x, [&] { return normalize_permutation(x.shape(), order); });
  Indices inverse = forward;
  for (std::size_t j = 0; j < forward.size(); ++j)
    inverse[static_cast<std::size_t>(forward[j])] = static_cast<Index>(j);
  return record({"permute", R"(\operatorname{permute}_{@order}(@x))", {{"order", forward}}},
      [&] { return x.value().permute(forward); },
      {
          {"x", x, R"(\operatorname{permute}_{@inverse}(@g))",
              [inverse](const Var& g) { return permute(g, inverse); }, {"inverse", inverse}},
      });
}

Var transpose(const Var& x) {
  return record({"transpose", R"(@x^\top)"}, [&] { return x.value().transpose(); },
      {
          {"x", x, R"(@g^\top)", [](const Var& g) { return transpose(g); }},
      });
}

Var slice(const Var& x, Index axis, Index start, Index stop) {
  axis = in_scope_of(x, [&] { return normalize_axis("slice", x.shape(), axis); });
  const Indices range{axis, start, stop};
  return record({"slice", R"(\operatorname{slice}_{@range}(@x))", {{"range", range}}},
      [&] { return x.value().slice(axis, start, stop); },
      {
          {"x", x, R"(\operatorname{unslice}_{@range}(@g))",
              [axis, start, extent = x.shape()[axis]](
                  const Var& g) { return unslice(g, axis, start, extent); }},
      });
}

Var unslice(const Var& x, Index axis, Index start, Index extent) {
  axis = in_scope_of(x, [&] { return normalize_axis("unslice", x.shape(), axis); });
  const Index n = x.shape()[axis];
  const Index stop =
      start > kMostIndex - n ? kMostIndex : start + n;  // no overflow before the error
  const Indices range{axis, start, stop};
  return record({"unslice", R"(\operatorname{unslice}_{@range}(@x))", {{"range", range}}},
      [&] {
        if (start < 0 || stop > extent)
          throw IndexError(
              cat("unslice: outside the axis: x ", x.shape(), " at ", start, " of axis ", axis,
                  " ends at ", stop, "; needs 0 <= start and an end of at most ", extent));
        return kernels::unslice(x.value(), x.shape().with(axis, extent), axis, start);
      },
      {
          {"x", x, R"(\operatorname{slice}_{@range}(@g))",
              [axis, start, stop](const Var& g) { return slice(g, axis, start, stop); }},
      });
}

namespace {

/// A part that stands on the tape, and so knows the open scope, if there is one.
const Var& one_on_tape(std::span<const Var> parts) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [](const Var& x) { return x.tape(); });
  return found == parts.end() ? parts[0] : *found;
}

/// Checks that parts may stand side by side: one dtype, and one shape but for `free_axis` (-1:
/// none).
void check_parts(std::string_view op, std::span<const Var> parts, Index free_axis) {
  const Shape first = parts[0].shape();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape shape = parts[i].shape();
    const bool fits = shape.rank() == first.rank() &&
                      (free_axis < 0 ? shape : shape.with(free_axis, first[free_axis])) == first;
    if (!fits)
      throw ShapeError(cat(op, ": the parts do not fit: part 0 ", first, ", part ", i, " ", shape,
          free_axis < 0 ? std::string("; all must be equal")
                        : cat("; all but axis ", free_axis, " must be equal")));
    if (parts[i].dtype() != parts[0].dtype())
      throw DTypeError(cat(op, ": dtypes differ: part 0 ", parts[0].dtype(), ", part ", i, " ",
          parts[i].dtype(), "; convert one with to(", parts[0].dtype(), ")"));
  }
}

}  // namespace

Var concat(std::span<const Var> parts, Index axis) {
  if (parts.empty()) throw ValueError("concat: no parts: there must be at least one");
  axis = in_scope_of(one_on_tape(parts), [&] {
    const Index from_front = normalize_axis("concat", parts[0].shape(), axis);
    check_parts("concat", parts, from_front);
    // Views that repeat one number may be as long as an Index counts.
    Index room = kMostIndex;
    for (const Var& part : parts)
      if ((room -= part.shape()[from_front]) < 0)
        throw ShapeError(cat("concat: too many elements: part 0 ", parts[0].shape(), ", ",
            parts.size(), " parts; their extents along axis ", from_front,
            " must add up to a number of 63 bits"));
    return from_front;
  });

  // The adjoint of each part is the piece of g that lies where the part lies.
  const auto piece = [axis](Index start, Index stop) {
    return [axis, start, stop](const Var& g) { return slice(g, axis, start, stop); };
  };
  std::vector<decltype(piece(0, 0))> rules;
  std::vector<Indices> ranges;
  Index start = 0;
  for (const Var& part : parts) {
    const Index stop = start + part.shape()[axis];
    rules.push_back(piece(start, stop));
    ranges.push_back({axis, start, stop});
    start = stop;
  }
  std::vector<Attribute> attributes;
  for (const Indices& range : ranges) attributes.push_back({"range", range});
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < parts.size(); ++i)
    inputs.push_back(
        {"x", parts[i], R"(\operatorname{slice}_{@range}(@g))", rules[i], attributes[i]});
  return record(
      {"concat", R"(\operatorname{concat}_{@axis}(@x))", {{"axis", static_cast<double>(axis)}}},
      [&] {
        std::vector<Tensor> values;
        for (const Var& part : parts) values.push_back(part.value());
        return kernels::concat(values, axis);
      },
      std::span<Input>(inputs));
}

Var stack(std::span<const Var> parts, Index axis) {
  if (parts.empty()) throw ValueError("stack: no parts: there must be at least one");
  // The new axis is counted among those of the result.
  const Shape first = parts[0].shape();
  Indices extents = first;
  extents.push_back(1);
  axis = in_scope_of(one_on_tape(parts), [&] {
    check_parts("stack", parts, -1);
    return normalize_axis("stack", Shape(extents), axis);
  });
  std::rotate(extents.begin() + axis, extents.end() - 1, extents.end());
  const Shape slot(extents);

  const auto piece = [axis, first](Index i) {
    return [axis, first, i](const Var& g) { return reshape(slice(g, axis, i, i + 1), first); };
  };
  std::vector<decltype(piece(0))> rules;
  std::vector<Indices> places;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rules.push_back(piece(static_cast<Index>(i)));
    places.push_back({axis, static_cast<Index>(i)});
  }
  std::vector<Attribute> attributes;
  for (const Indices& place : places) attributes.push_back({"at", place});
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < parts.size(); ++i)
    inputs.push_back(
        {"x", parts[i], R"(\operatorname{select}_{@at}(@g))", rules[i], attributes[i]});
  return record(
      {"stack", R"(\operatorname{stack}_{@axis}(@x))", {{"axis", static_cast<double>(axis)}}},
      [&] {
        std::vector<Tensor> values;
        for (const Var& part : parts) values.push_back(part.value().reshape(slot));
        return kernels::concat(values, axis);
      },
      std::span<Input>(inputs));
}

Var detach(const Var& x) {
  return record({"detach", R"(\operatorname{detach}(@x))"}, [&] { return x.value(); }, {{"x", x}});
}

}  // namespace microtape
