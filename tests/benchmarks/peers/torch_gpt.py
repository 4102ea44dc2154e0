"""benchmark_gpt.cpp in PyTorch: torch_gpt.py BATCH SECONDS

The same GPT (pre-norm blocks, causal, exact GELU, tied head) with nn.MultiheadAttention. Prints the
mean time of a training step in ms.
"""
import json
import os
import statistics
import sys
import time

import torch
from torch import nn

VOCABULARY, CONTEXT, WIDTH, HEADS, DEPTH = 64, 64, 64, 4, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.register_buffer("mask", torch.full((CONTEXT, CONTEXT), -1e9).triu(1))

    def forward(self, x):
        n = self.ln1(x)
        x = x + self.attention(n, n, n, need_weights=False, attn_mask=self.mask)[0]
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(DEPTH)])
        self.ln = nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        h = self.ln(self.blocks(self.tokens(tokens) + self.positions))
        return h @ self.tokens.weight.T


torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
torch.manual_seed(0)
model = Gpt()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
tokens = torch.full((int(sys.argv[1]), CONTEXT), 3)


def step():
    optimizer.zero_grad(set_to_none=True)
    logits = model(tokens)
    nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), tokens.reshape(-1)).backward()
    optimizer.step()


for _ in range(3):
    step()
times, end = [], time.perf_counter() + float(sys.argv[2])
while len(times) < 5 or time.perf_counter() < end:
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
print(json.dumps({"ms": statistics.fmean(times) * 1e3}))
