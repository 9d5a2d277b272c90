"""Reads the openly licensed texts that the model is fitted to (README.md lists
them, with commits and licences) and gives them as one list of short texts."""

import csv
import io
import json
import random
import re
import subprocess
import zipfile
from pathlib import Path

import wordfreq

# Clones below the folder of sources, each read at one commit.
PERSONA = ("Synthetic-Persona-Chat", "1f367a0f05d388ca96ebbbc9e5752ab19ac76510")
TOPICAL = ("Topical-Chat", "7c939229cbcf6f55f6977b341a5a2f2fe982d53f")
SCHEMA = ("dstc8-schema-guided-dialogue", "e852981ae34990f4358979625854259302feaa78")
TASKMASTER = ("Taskmaster", "d92cb6af3005f1dc09c39e75e7daf4a04905e00b")
MULTIDOGO = ("multi-domain-goal-oriented-dialogues-dataset", "baa30639c4b271f394b81443c842193407cdf26d")
TRIVIA = ("OpenTriviaQA", "dd31530bfbb19f9505b160b89c9df4b1127e3c70")
WIKISPLIT = ("wiki-split", "80f5bddf42d1a68201b7b107ee4b8d86d82e9fde")
XQUAD = ("xquad", "7d30520c717524000f0d9d2f9c10a069acd9d285")
CORPORA = ("corpora", "cf30ca27ab176b63623af1ddcfa2447ac07305ba")

LARGEST = 4_190_000  # bytes of a file that is read: partial clones may lack larger ones


class Sources:
    def __init__(self, folder):
        self.folder = Path(folder)

    def _git(self, repo, *args):
        name, _ = repo
        return subprocess.run(["git", "-C", str(self.folder / name), *args],
                              check=True, capture_output=True).stdout

    def files(self, repo, under, ending=""):
        """The files of a clone below a folder, except those that may be missing."""
        listing = self._git(repo, "ls-tree", "-r", "-l", repo[1], "--", under).decode()
        for line in sorted(listing.splitlines()):
            (_, _, _, size), path = line.split("\t")[0].split(), line.split("\t")[1]
            if path.endswith(ending) and size.isdigit() and int(size) <= LARGEST:
                yield self._git(repo, "show", f"{repo[1]}:{path}").decode("utf-8", "replace")

    # Dialogues, each a list of turns.

    def persona(self):
        for text in self.files(PERSONA, "data/", ".csv"):
            for row in list(csv.reader(io.StringIO(text)))[1:]:
                yield [re.sub(r"^User \d: ", "", t) for t in row[2].splitlines()]
                yield from ([t] for p in row[:2] for t in p.splitlines())

    def topical(self):
        for text in self.files(TOPICAL, "conversations/", ".json"):
            for c in json.loads(text).values():
                yield [m["message"] for m in c["content"]]

    def schema(self):
        for part in ("train/", "dev/", "test/"):
            for text in self.files(SCHEMA, part, ".json"):
                d = json.loads(text)
                yield from ([t["utterance"] for t in c["turns"]] for c in d if "turns" in c)

    def taskmaster(self):
        for text in self.files(TASKMASTER, "TM-4-2024/data/", ".json"):
            yield from ([u["text"] for u in c["utterances"]] for c in json.loads(text))

    def multidogo(self):
        for text in self.files(MULTIDOGO, "data/paper_splits/splits_annotated_at_turn_level/", ".tsv"):
            turns, last = [], None
            for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["conversationId"] != last and turns:
                    yield turns
                    turns = []
                last = row["conversationId"]
                turns.append(row["utterance"] or "")
            yield turns

    def chitchat(self):
        wheel = next(self.folder.glob("chitchat_dataset-0.9.0-*.whl"))
        with zipfile.ZipFile(wheel) as z:
            for c in json.loads(z.read("chitchat_dataset/dataset.json")).values():
                turns = [" ".join(m["text"] for m in turn) for turn in c["messages"]]
                yield [t for t in turns if not t.startswith("http")]

    def dialogues(self):
        for name in ("chitchat", "persona", "topical", "schema", "taskmaster", "multidogo"):
            for turns in getattr(self, name)():
                yield name, [t for t in (tidy(t) for t in turns) if t]

    # Written texts.

    def trivia(self):
        for text in self.files(TRIVIA, "categories/"):
            for q, a in re.findall(r"#Q (.+(?:\n(?!\^).+)*)\n\^ (.+)", text):
                yield tidy(q), tidy(a)

    def xquad(self):
        for text in self.files(XQUAD, "xquad.en.json"):
            for p in (p for d in json.loads(text)["data"] for p in d["paragraphs"]):
                sentences = re.split(r"(?<=[.!?]) +(?=[A-Z])", p["context"])
                yield from ((q["question"], " ".join(sentences[i:i + 2])) for i, q in enumerate(p["qas"]))

    def wikisplit(self):
        for text in self.files(WIKISPLIT, ".", ".tsv"):
            for line in text.splitlines():
                yield tidy(re.sub(r" ?'' ?| (?=[.,;:)])|(?<=\() ", "", line.split("\t")[0]))

    def wordnet(self):
        """(lemmas, gloss, examples) of every sense."""
        for path in sorted((self.folder / "wordnet").glob("data.*")):
            for line in path.read_text().splitlines():
                if line.startswith(" ") or " | " not in line:
                    continue
                head, gloss = line.split(" | ", 1)
                fields = head.split()
                lemmas = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
                lemmas = [re.sub(r"\((a|p|ip)\)$", "", lemma) for lemma in lemmas]
                yield lemmas, tidy(re.sub(r'; ?".*', "", gloss)), re.findall(r'"([^"]+)"', gloss)

    def names(self):
        text = next(iter(self.files(CORPORA, "data/humans/firstNames.json")))
        return json.loads(text)["firstNames"]


def misspell(rnd, word):
    """The word with one letter lost, doubled, swapped with the next, or another."""
    i = rnd.randrange(len(word) - 1)
    a, b, c, d = word[:i], word[i], word[i + 1], word[i + 2:]
    return a + rnd.choice((c, b + b + c, c + b, rnd.choice("aeioustrnl") + c)) + d


def pairs(folder, seed=2):
    """Pairs of texts that belong together: a question and its answer, which may
    share no word, and a word and a misspelling of it."""
    rnd, following = random.Random(seed), []
    for source, turns in Sources(folder).dialogues():
        if source in ("chitchat", "persona", "topical"):
            following += ((q[-200:], a[:400]) for q, a in zip(turns, turns[1:]) if q.endswith("?") and len(q) > 20 and len(a) > 25)
    words = [w for w in wordfreq.top_n_list("en", 40_000) if len(w) > 4 and w.isascii() and w.isalpha()]
    return following, [(misspell(rnd, w), w) for w in words]


def tidy(text):
    return re.sub(r"\s+", " ", text).strip()


# A statement about oneself, made into questions about somebody. The grammar
# suffers; the words and their order of importance do not.
SELF = re.compile(r"^(?:i|I) (?:also |just |really )?((?:love|like|have|went|want|work|live|play|used|got|bought|saw|am|was|moved|started|made|"
                  r"enjoy|hate|study|need|grew|met|visited|read|watched|took|think|know|plan|hope|lost|found|feel)\b[^.!?,]{8,70})")
ASK = ("When did {n} {v}?", "What did {n} say about {v}?", "Why does {n} {v}?", "Who does {n} {v} with?", "Where did {n} {v}?",
       "Does {n} {v}?", "How long has {n} {v}?", "How does {n} feel about {v}?", "What kind of things does {n} {v}?", "How many times did {n} {v}?")


# How many texts of each kind are used, and the longest in characters. Talk and
# questions come first, as that is what memories are; the rest gives breadth.
SHARES = {"chitchat": 60_000, "named": 40_000, "word": 40_000, "question": 30_000, "gloss": 30_000, "sentence": 25_000,
          "persona": 25_000, "topical": 25_000, "example": 25_000, "trivia": 25_000, "lemma": 25_000, "schema": 12_000,
          "about": 10_000, "window": 8_000, "wiki": 8_000, "multidogo": 3_000, "xquad": 2_000, "taskmaster": 1_500}
LONGEST = 260


def collect(folder, seed=1):
    """All texts in a fixed order, without repetition: (kind, text)."""
    s, rnd, out = Sources(folder), random.Random(seed), {}
    names = s.names()

    def put(kind, text):
        if text and text not in out:
            out[text] = kind

    for source, turns in s.dialogues():
        if source in ("schema", "taskmaster", "multidogo") and rnd.random() < 0.75:
            continue  # the same few errands over and over
        ann, bob = rnd.sample(names, 2)
        for i, turn in enumerate(turns):
            put(source, turn[:600])
            if rnd.random() < 0.35:
                put("named", f"{ann if i % 2 == 0 else bob}: {turn[:600]}")
            if i and rnd.random() < 0.15:
                put("window", " ".join(turns[max(0, i - rnd.choice((1, 1, 2, 3))):i + 1])[:900])
            for sentence in re.split(r"(?<=[.!?]) +", turn):
                if sentence != turn and rnd.random() < 0.4:
                    put("sentence", sentence[:300])
                if m := SELF.match(sentence):
                    put("question", rnd.choice(ASK).format(n=rnd.choice((ann, bob)), v=re.sub(r"\bmy\b", "their", m[1])))
                if m and rnd.random() < 0.5:
                    put("about", f"{ann if i % 2 == 0 else bob} {m[1]}.")
    for q, a in s.trivia():
        put("trivia", q)
        put("trivia", f"{q} {a}")
    for q, passage in s.xquad():
        put("xquad", q)
        put("xquad", passage)
    for sentence in s.wikisplit():
        put("wiki", sentence)
    for lemmas, gloss, examples in s.wordnet():
        put("gloss", rnd.choice((gloss, f"{lemmas[0]}: {gloss}")))
        for e in examples:
            put("example", tidy(e))
        for lemma in lemmas:
            if rnd.random() < 0.6:
                put("lemma", lemma)
    for word in wordfreq.top_n_list("en", 60_000):
        put("word", word)
    for name in names:
        put("word", name)
    kinds = {kind: [t for t, k in out.items() if k == kind and len(t) <= LONGEST] for kind in SHARES}
    chosen = [(k, t) for k, all in kinds.items() for t in rnd.sample(all, min(SHARES[k], len(all)))]
    rnd.shuffle(chosen)
    return chosen
