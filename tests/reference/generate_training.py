#!/usr/bin/env python3
"""Writes training.safetensors with PyTorch: optimizers over 20 float64 steps, and layers of a small GPT.

    apt-get install -y python3-torch        # Debian: PyTorch 1.13.1
    /usr/bin/python3 generate_training.py --out . --seed 20261129

<optimizer>/value, <optimizer>/grad.<step>, <optimizer>/after.<step>   one parameter [3, 4]
clip/grad.0, clip/grad.1, clip/norm, clip/clipped.0, clip/clipped.1    torch.nn.utils.clip_grad_norm_
cosine/rates                                                           CosineAnnealingLR, 30 steps
block/...                                                              a pre-norm block: input, output, all gradients
"""
import argparse

import torch
import torch.nn.functional as F

from generate import save

F64 = torch.float64


def optimizer(out, name, make):
    value = torch.randn(3, 4, dtype=F64).requires_grad_()
    out[f"{name}/value"] = value.detach().clone()
    method = make([value])
    for step in range(20):
        grad = torch.randn(3, 4, dtype=F64) * (1 + step % 3)
        value.grad = grad.clone()
        method.step()
        out[f"{name}/grad.{step}"] = grad
        out[f"{name}/after.{step}"] = value.detach().clone()


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1 = torch.nn.LayerNorm(width, dtype=F64)
        self.attention = torch.nn.MultiheadAttention(width, heads, batch_first=True, dtype=F64)
        self.ln2 = torch.nn.LayerNorm(width, dtype=F64)
        self.fc1 = torch.nn.Linear(width, 4 * width, dtype=F64)
        self.fc2 = torch.nn.Linear(4 * width, width, dtype=F64)

    def forward(self, x):
        t = x.shape[1]
        mask = torch.triu(torch.full((t, t), -1e9, dtype=F64), 1)
        n = self.ln1(x)
        x = x + self.attention(n, n, n, attn_mask=mask, need_weights=False)[0]
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


def block(out):
    m = Block(8, 2)
    with torch.no_grad():
        for p in m.parameters():
            p.copy_(torch.randn_like(p) * 0.4)
    x = torch.randn(2, 5, 8, dtype=F64).requires_grad_()
    y = m(x)
    dy = torch.randn_like(y)
    y.backward(dy)
    out |= {"block/x": x, "block/y": y, "block/dy": dy, "block/grad.x": x.grad}
    for name, p in m.named_parameters():
        ours = name if not name.startswith("fc") else "mlp." + name
        out[f"block/parameter/{ours}"] = p
        out[f"block/grad/{ours}"] = p.grad


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--out", default=".")
    a.add_argument("--seed", type=int, default=20261129)
    a = a.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    out = {}
    optimizer(out, "sgd", lambda p: torch.optim.SGD(p, lr=0.05))
    optimizer(out, "sgd_momentum", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.02))
    optimizer(out, "adam", lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95)))
    optimizer(out, "adam_decay", lambda p: torch.optim.Adam(p, lr=0.02, weight_decay=0.1))
    optimizer(out, "adamw", lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.3))
    grads = [torch.randn(3, 4, dtype=F64), torch.randn(5, dtype=F64)]
    params = [torch.zeros_like(g).requires_grad_() for g in grads]
    for i, (p, g) in enumerate(zip(params, grads)):
        p.grad = g.clone()
        out[f"clip/grad.{i}"] = g
    out["clip/norm"] = torch.nn.utils.clip_grad_norm_(params, 1.5)
    for i, p in enumerate(params):
        out[f"clip/clipped.{i}"] = p.grad
    q = torch.zeros(1, requires_grad=True)
    sgd = torch.optim.SGD([q], lr=0.3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(sgd, T_max=30, eta_min=0.05)
    rates = []
    for _ in range(30):
        rates.append(sgd.param_groups[0]["lr"])
        sgd.step()
        schedule.step()
    out["cosine/rates"] = torch.tensor(rates, dtype=F64)
    block(out)
    save(f"{a.out}/training.safetensors", out, {"made_by": "torch " + torch.__version__})


main()
