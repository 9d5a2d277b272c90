"""Makes static-1.bin and the golden files of its tests: python make.py SOURCES WORK

SOURCES holds what README.md lists; WORK keeps the teacher's vectors, which take
the longest, for the next time."""

import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

import golden
import student
from teacher import Teacher
from texts import collect
from texts import pairs as pairs_of

NAME = "static-1"
EXTRA = 8_000  # words that get a piece of their own
HERE = Path(__file__).parent
TESTDATA = HERE.parent / "testdata"


def taught(teacher, path, texts):
    """The teacher's vectors, stored in parts, since the teacher is slow and may be
    stopped. Delete the folder of the parts when the texts change."""
    path.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(texts), 6000):
        part = path / f"{start:06d}.npy"
        if not part.exists():
            np.save(part, teacher.embed(texts[start:start + 6000]))
    return np.concatenate([np.load(p) for p in sorted(path.glob("*.npy"))])


def noise(model, texts):
    """The mean cosine of pairs of texts taken at random, and one standard deviation:
    many good answers lie not far above."""
    vectors = np.stack([model.vector(t) for t in texts])
    vectors = vectors[np.any(vectors, axis=1)]
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    return float(cosines.mean() + cosines.std())


def main(sources, work):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    teacher = Teacher(sources)
    kinds, texts = zip(*collect(sources))
    vectors = taught(teacher, Path(work) / "texts", texts)

    extra = student.frequent(student.Pieces(teacher.tokenizer, []), texts, EXTRA)
    pieces = student.Pieces(teacher.tokenizer, extra)
    directions = student.projection(vectors)
    table = taught(teacher, Path(work) / "pieces", [p.removeprefix("##") for p in pieces.list]).astype(np.float32) @ directions
    bags = student.Bags([pieces.rows(t) for t in texts])
    weights = np.where(np.isin(kinds, ("word", "lemma")), np.float32(0.3), np.float32(1))
    pairs = [[student.Bags([pieces.rows(t) for t in side]) for side in zip(*kind)] for kind in pairs_of(sources)]
    table = student.fit(table * student.rarity(pieces)[:, None], bags, vectors, weights, directions, pairs)
    model = student.Model(NAME, pieces, *student.quantise(table, pieces))

    some = [t for k, t in zip(kinds, texts) if k not in ("word", "lemma")][:3000]
    (HERE / f"{NAME}.bin").write_bytes(model.file(noise(model, some)))
    reference = Tokenizer(WordPiece({p: i for i, p in enumerate(pieces.list + ["[UNK]"])}, unk_token="[UNK]"))
    reference.normalizer, reference.pre_tokenizer = teacher.tokenizer.normalizer, teacher.tokenizer.pre_tokenizer
    TESTDATA.mkdir(exist_ok=True)
    (TESTDATA / "pieces.json").write_text(golden.pieces(reference))
    (TESTDATA / "vectors.json").write_text(golden.vectors(model))


if __name__ == "__main__":
    main(*sys.argv[1:])
