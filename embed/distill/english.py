"""The English words that words of other languages are given: those with a row of
static-1.bin that a dictionary has, or that are more English than anything else."""

import collections
import re
import struct
from pathlib import Path

import wordfreq

MODEL = "static-1.bin"
# A row of the model may be a word of another language, as German "ich" and "und": these languages tell.
OTHERS = ("de", "fr", "es", "pt", "it", "nl", "sv", "da", "nb", "fi", "pl", "tr", "ro", "id", "ca")
ENDINGS = (("s", ("",)), ("es", ("",)), ("ies", ("y",)), ("ed", ("", "e")), ("ied", ("y",)), ("ing", ("", "e")),
           ("er", ("", "e")), ("est", ("", "e")))

Candidate = collections.namedtuple("Candidate", "word row place")  # place: by frequency among all English words


def rows():
    """The row of each whole word."""
    data = Path(__file__).with_name(MODEL).read_bytes()
    _, _, _, _, name, pieces = struct.unpack("<IIIfII", data[8:32])
    listed = data[32 + name:32 + name + pieces].decode().split("\n")
    return {p: i for i, p in enumerate(listed) if p.isascii() and p.isalpha()}


def wordnet(folder):
    """The words of each synset, all words in small letters, and all names."""
    synsets, small, names = {}, set(), set()
    for part, kind in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        for line in (folder / f"data.{part}").read_text().splitlines():
            if line.startswith(" "):
                continue
            fields = line.split()
            words = [re.sub(r"\((a|p|ip)\)$", "", fields[4 + 2 * i]) for i in range(int(fields[3], 16))]
            synsets[f"{fields[0]}-{kind}"] = [w.lower() for w in words if "_" not in w]
            for word in words:
                (small if word.islower() else names).add(word.lower())
    return synsets, small, names


def candidates(sources):
    """The words, most frequent first, and the words of each synset of WordNet."""
    folder = Path(sources) / "wordnet"
    synsets, small, names = wordnet(folder)
    irregular = {}
    for part in ("noun", "verb", "adj", "adv"):
        irregular.update(line.split()[:2] for line in (folder / f"{part}.exc").read_text().splitlines())

    def has(word):
        """Whether the dictionary has the word or what it is a form of."""
        bases = [word, irregular.get(word, word)]
        for ending, instead in ENDINGS:
            if word.endswith(ending):
                stem = word[:-len(ending)]
                bases += [stem + i for i in instead] + ([stem[:-1]] if stem[-1:] == stem[-2:-1] else [])
        return any(b in small for b in bases)

    row, out = rows(), []
    english = wordfreq.get_frequency_dict("en")
    others = [wordfreq.get_frequency_dict(o) for o in OTHERS]
    for place, word in enumerate(wordfreq.top_n_list("en", 60_000)):
        if word not in row:
            continue
        elsewhere = max(o.get(word, 0) for o in others) / english[word]
        if has(word) and (len(word) > 2 or place < 150):
            keep = english[word] > 3e-5 or elsewhere < 20
        elif place < 150:
            keep = elsewhere < 20
        else:
            keep = len(word) > 2 and elsewhere < (30 if word in names and len(word) > 3 else 2)
        if keep and english[word] > 1.2e-6:
            out.append(Candidate(word, row[word], place))
    return out, synsets
