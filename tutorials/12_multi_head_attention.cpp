// Tutorial 12: attention with several heads, which are cut out of one matrix and glued together.
//
//     Q = heads(X W_Q^T + b_Q)     K, V alike     C_h = softmax(Q_h K_h^T / sqrt(d)) V_h
//     Y = [C_1 .. C_H] W_O^T + b_O = sum over h of C_h W_O,h^T + b_O
//
// Gluing and mapping is a sum over the heads: each has rows of W_Q, W_K, W_V and columns of W_O to
// itself. So the order of heads means nothing: permute these blocks, and Y stays while the
// gradients are permuted. The closed form sums over heads by plain loops; PyTorch, which glues, is
// asked too.
//
// Try this: in cut(), reshape to {1, heads, T, D} at once, without permute(). The shapes fit, and
// nobody complains; but a head is then made of parts of several tokens, and the first check fails.
//
// Source: Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.2.

#include "support/multi_head.hpp"
#include "support/tutorial.hpp"

using namespace microtape;
using multi_head::Reference;
using multi_head::Run;

namespace {

// --- cut and glue ------------------------------------------------------------------------------

/// [1, T, E] as [1, T, H, D], its axes reordered to [1, H, T, D].
//! [cut]
Tensor cut(const Tensor& x, Index heads) {
  const Index T = x.extent(1), D = x.extent(2) / heads;
  return x.reshape({1, T, heads, D}).permute({0, 2, 1, 3});
}
//! [cut]

void cut_and_glue(show::Verdict& verdict) {
  show::heading("1. Cut and glue");
  const Tensor x = Tensor::arange(0, 12, 1, float64).reshape({1, 2, 6});
  const Tensor parts = cut(x, 3);
  std::printf("Two tokens of six numbers, for three heads of width 2:\n\n");
  show::matrix("x", x.reshape({2, 6}));
  bool is_right = true;
  for (Index h = 0; h < 3; ++h) {
    const Tensor head = parts.slice(1, h, h + 1).reshape({2, 2});
    show::matrix("head " + std::to_string(h), head);
    for (Index t = 0; t < 2; ++t)
      for (Index j = 0; j < 2; ++j)
        is_right &= head.at({t, j}) == static_cast<double>(6 * t + 2 * h + j);
  }
  std::printf("\n");
  verdict.add("head h has columns 2 h and 2 h + 1 of every token", is_right);
  verdict.add("cutting copies nothing: it is a view", parts.shares_memory_with(x));
  const Tensor glued = parts.permute({0, 2, 1, 3}).reshape({1, 2, 6});
  verdict.add("gluing undoes it", compare("", glued, x, 0).agrees);
}

// --- all of it ---------------------------------------------------------------------------------

void whole(const std::string& out, const std::string& name, const Reference& from,
    show::Verdict& verdict) {
  Run run(from, from.parameters());
  std::printf("%lld heads of width %lld. The tape's equations:\n\n%s",
      static_cast<long long>(from.heads), static_cast<long long>(from.embed / from.heads),
      to_text(derivation(run.tape, run.Y)).c_str());
  std::printf("\nThe sum over heads, by plain loops, beside the tape that glues:\n\n");
  verdict.add(multi_head::against_sum_over_heads(from, run));
  std::printf("\nPyTorch's numbers (%s):\n\n", from.text("made_by").c_str());
  verdict.add(multi_head::against_pytorch(from, run));
  const auto largest = [&](const char* name_of) { return (max)(abs(run.d.at(name_of))).item(); };
  std::printf("\n");
  verdict.zero("db_K = 0: a key bias learns nothing",
      largest("k_proj.bias") / largest("q_proj.bias"), 1e-12);
  views::write(
      out, name, run.tape, *run.sweep, run.Y, {.title = name + "-attention", .seed = from["dy"]});
  views::write_graph(out, name + ".folded", to_dot(run.tape, &*run.sweep, {.unfold = 1}));
}

void print_parameters(Run& run, Index E, show::Verdict& verdict) {
  std::printf("\n  parameter         shape     count\n");
  Index count = 0;
  for (const auto& [name, parameter] : run.layer.named_parameters()) {
    const Tensor& w = parameter.value();
    std::printf("  %-16s  %-8s  %5lld\n", name.c_str(), w.shape().str().c_str(),
        static_cast<long long>(w.size()));
    count += w.size();
  }
  std::printf("  all                         %5lld\n\n", static_cast<long long>(count));
  verdict.add("4 E^2 + 4 E parameters, however many heads", count == 4 * E * E + 4 * E);
}

// --- permuted heads ----------------------------------------------------------------------------

/// The blocks of one axis, of which each head has one, in another order.
Tensor permuted(const Tensor& x, Index axis, const std::vector<Index>& order) {
  const Index width = x.extent(axis) / static_cast<Index>(order.size());
  std::vector<Var> blocks;
  for (const Index h : order) blocks.emplace_back(x.slice(axis, h * width, (h + 1) * width));
  return concat(blocks, axis).value();
}

/// Parameters, or their gradients, of the same heads in another order.
//! [permuted]
TensorMap permuted(const TensorMap& of, const std::vector<Index>& order) {
  TensorMap out = of;
  for (const char* name : {"q_proj", "k_proj", "v_proj"})
    for (const char* part : {".weight", ".bias"}) {
      Tensor& rows = out.at(std::string(name) + part);
      rows = permuted(rows, 0, order);
    }
  Tensor& columns = out.at("out_proj.weight");
  columns = permuted(columns, 1, order);
  return out;
}
//! [permuted]

void permute_heads(const Reference& from, show::Verdict& verdict) {
  show::heading("4. The order of heads means nothing");
  const std::vector<Index> order{2, 0, 3, 1};
  Run run(from, from.parameters());
  Run other(from, permuted(run.layer.state_dict(), order));
  std::printf("Head 2 comes first now, then heads 0, 3 and 1:\n\n");
  std::vector<Comparison> rows{compare("Y, unchanged", other.Y.value(), run.Y.value(), 1e-12),
      compare(
          "P, permuted", other.layer.weights(), permuted(run.layer.weights(), 1, order), 1e-12)};
  for (const Comparison& c : multi_head::compare_parameters(
           multi_head::packed(other.d), multi_head::packed(permuted(run.d, order)), 1e-12))
    rows.push_back(c);
  verdict.add(rows);
  std::printf("\n");
  verdict.add("and the gradients were not the same before",
      !compare("", other.d.at("q_proj.weight"), run.d.at("q_proj.weight"), 1e-3).agrees);
}

}  // namespace

int main(int argc, char** argv) {
  std::string self_path = MICROTAPE_REFERENCE_DIR "/attention_self.safetensors";
  return tutorial::run(
      argc, argv, "12_multi_head_attention",
      "Attention with several heads: cut, glued, permuted, and held against PyTorch.",
      [&](const std::string& out, show::Verdict& verdict) {
        cut_and_glue(verdict);
        const Reference self(self_path),
            cross(MICROTAPE_REFERENCE_DIR "/attention_cross.safetensors");
        show::heading("2. Self-attention: queries, keys and values of one X");
        whole(out, "self", self, verdict);
        Run run(self, self.parameters());
        print_parameters(run, self.embed, verdict);
        show::heading("3. Cross-attention: keys and values of other sequences");
        whole(out, "cross", cross, verdict);
        permute_heads(cross, verdict);
      },
      [&](CLI::App& app) {
        app.add_option(
            "--reference", self_path, "PyTorch's self-attention without a mask, for part 2");
      });
}
