"""The student: a row of numbers for each piece of a word. A text's vector is the
sum of its pieces' rows at unit length, fitted to the teacher's vector of it."""

import collections
import hashlib
import re
import struct
import unicodedata

import numpy as np
import torch
import torch.nn.functional as F
import wordfreq

DIMENSION = 256
PAIRS = 0.05  # what pairs count beside the teacher


class Pieces:
    """The teacher's WordPiece, with more words that are one piece."""

    def __init__(self, tokenizer, extra):
        self.normalizer, self.splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
        vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.token_to_id)
        special = re.compile(r"\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]")
        self.list = list(dict.fromkeys([w for w in vocabulary if not special.fullmatch(w)] + extra))
        self.row = {piece: i for i, piece in enumerate(self.list)}
        self.cache = {}

    def words(self, text):
        return [w for w, _ in self.splitter.pre_tokenize_str(self.normalizer.normalize_str(text))]

    def split(self, word):
        if word not in self.cache:
            self.cache[word] = self._split(word) if len(word) <= 100 else []
        return self.cache[word]

    def _split(self, word):
        rows, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                row = self.row.get(("##" if start else "") + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                return []
        return rows

    def rows(self, text):
        return [row for w in self.words(text) for row in self.split(w)]


def frequent(pieces, texts, n):
    """The n most frequent words that have no piece of their own, half by how
    often English has them, half by how often the texts do."""
    count = collections.Counter(w for t in texts for w in pieces.words(t))
    total = sum(count.values())
    score = {w: c / total + wordfreq.word_frequency(w, "en") for w, c in count.items()}
    for w in wordfreq.top_n_list("en", 60_000):
        score.setdefault(w, wordfreq.word_frequency(w, "en"))
    score = {w: s for w, s in score.items() if w.isascii() and w.isalpha() and len(pieces.split(w)) > 1}
    return sorted(score, key=lambda w: (-score[w], w))[:n]


def rarity(pieces):
    """How much a piece counts at first: frequent ones little (Arora, Liang and
    Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017)."""
    often = np.array([wordfreq.word_frequency(p.removeprefix("##"), "en", minimum=1e-8) for p in pieces.list])
    return 1e-3 / (1e-3 + often)


class Bags:
    """The rows of many texts, one after another."""

    def __init__(self, lists):
        self.starts = torch.zeros(len(lists) + 1, dtype=torch.long)
        self.starts[1:] = torch.cumsum(torch.tensor([len(rows) for rows in lists]), 0)
        self.rows = torch.from_numpy(np.fromiter((r for rows in lists for r in rows), np.int64, int(self.starts[-1])))

    def sums(self, table, which):
        lengths = self.starts[which + 1] - self.starts[which]
        ends = torch.cumsum(lengths, 0)
        at = torch.arange(int(ends[-1])) + torch.repeat_interleave(self.starts[which] - ends + lengths, lengths)
        return F.embedding_bag(self.rows[at], table, ends - lengths, mode="sum")


def projection(vectors):
    """The directions in which the teacher's vectors differ most (a PCA without
    centring, so that cosines stay what they are)."""
    sample = vectors[:100_000].astype(np.float32)
    return np.linalg.svd(sample.T @ sample)[0][:, :DIMENSION].copy()


def belonging(table, first, second, near, sharpness=0.07):
    """Of `near` pairs, how well the two of a pair find each other among all
    (InfoNCE: van den Oord, Li and Vinyals, 2018)."""
    which = torch.randperm(len(first.starts) - 1)[:near]
    cosines = F.normalize(first.sums(table, which), dim=-1) @ F.normalize(second.sums(table, which), dim=-1).T
    same = torch.arange(near)
    return (F.cross_entropy(cosines / sharpness, same) + F.cross_entropy(cosines.T / sharpness, same)) / 2


def fit(table, bags, vectors, weights, directions, pairs, epochs=9, batch=4096, rate=1e-2, near=1024):
    """Fits the table so that a text's vector is near the teacher's, the cosines
    among the first `near` texts of a batch are the teacher's, and the two
    texts of a pair, each kind of pairs in turn, are near each other."""
    table = torch.nn.Parameter(torch.as_tensor(table, dtype=torch.float32))
    optimizer = torch.optim.Adam([table], lr=rate, betas=(0.9, 0.99))
    vectors, weights, directions = torch.from_numpy(vectors), torch.as_tensor(weights), torch.from_numpy(directions)
    held = torch.arange(len(vectors) - 4000, len(vectors))  # of the texts, to see how it goes
    others = ~torch.eye(near, dtype=torch.bool)
    steps = (len(vectors) - len(held)) // batch
    for epoch in range(epochs):
        order = torch.randperm(len(vectors) - len(held))
        for step in range(steps):
            which = order[step * batch:(step + 1) * batch]
            want = vectors[which].float()
            have = F.normalize(bags.sums(table, which), dim=-1)
            apart = 1 - (have * F.normalize(want @ directions, dim=-1)).sum(-1)
            among = have[:near] @ have[:near].T - want[:near] @ want[:near].T
            loss = (weights[which] * apart).mean() + 10 * among[others].square().mean()
            loss = loss + PAIRS * belonging(table, *pairs[step % len(pairs)], near)
            optimizer.param_groups[0]["lr"] = rate * (1 - (epoch * steps + step) / (epochs * steps))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            have = F.normalize(bags.sums(table, held), dim=-1)
            want = F.normalize(vectors[held].float() @ directions, dim=-1)
            print(f"epoch {epoch}: cosine to the teacher, texts held out: {(have * want).sum(-1).mean():.4f}", flush=True)
    return table.detach().numpy()


def foreign(piece):
    """Whether a piece is of a script that the teacher cannot read: to it all such
    texts are alike."""
    return any(unicodedata.category(c)[0] in "LM" and "LATIN" not in unicodedata.name(c, "")
               or unicodedata.category(c)[0] == "P" and (0xFF < ord(c) < 0x2000 or ord(c) > 0x206F) for c in piece)


def mark(piece):
    """Whether a piece has neither a letter nor a digit nor a picture."""
    return not any(unicodedata.category(c)[0] in "LN" or unicodedata.category(c) == "So" for c in piece)


def quantise(table, pieces):
    """int8 numbers, and the value of one step in each row: 0 if the piece is
    foreign."""
    table = table / np.median(np.linalg.norm(table, axis=1))
    steps = (np.maximum(np.abs(table).max(1), 1e-12) / 127).astype(np.float32)
    numbers = np.rint(table / steps[:, None]).astype(np.int8)
    steps[[foreign(p) for p in pieces.list]] = 0
    return numbers, steps


class Model:
    """The file as embed/static.go reads it, and its vectors to the last bit."""

    def __init__(self, name, pieces, numbers, steps):
        self.name, self.pieces, self.numbers, self.steps = name, pieces, numbers, steps
        self.known = (steps > 0) & ~np.array([mark(p) for p in pieces.list])

    def vector(self, text):
        total, rows = np.zeros(self.numbers.shape[1]), self.pieces.rows(text)
        for row in rows if any(self.known[row] for row in rows) else ():
            total += np.float64(self.steps[row]) * self.numbers[row]
        length = np.sqrt(np.sum(total * total))
        return (total / length if length else total).astype(np.float32)

    def file(self, noise):
        name, pieces = self.name.encode(), "\n".join(self.pieces.list).encode()
        body = b"MEMOVECS" + struct.pack("<IIIfII", 1, self.numbers.shape[1], len(self.numbers), noise, len(name), len(pieces))
        body += name + pieces + self.steps.astype("<f4").tobytes() + self.numbers.tobytes()
        return body + hashlib.sha256(body).digest()
