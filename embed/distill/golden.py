"""The golden files: how the reference tokenizer splits odd texts, and the
model's vectors of some plain ones."""

import json
import random
import unicodedata

ODD = [
    "", " ", "\t\n\r\v\f", "\u0000", "…", "?!", "[]", "a", "A", "don't", "it's", "O'Brien's", "state-of-the-art", "3.14", "$9.99", "50%",
    "1,000,000", "me@here.org", "https://a.b/c?d=e#f", "#tag @you", "snake_case", "CamelCase", "C++", "a\u200bb", "a\u00adb", "a\ufeffb",
    "a\u0000b", "a\u0007b", "a\u0085b", "a\u00a0b", "a\u2028b", "a\u3000b", "a\ufffdb", "a\tb\nc\rd\ve\ff", "café", "cafe\u0301", "naïve",
    "Ångström", "İstanbul", "ıI", "straße STRASSE", "ÆØÅ æøå", "ﬁne ﬂow", "Ⅷ ⅷ", "ǅ ǆ", "Σίσυφος ΣΊΣΥΦΟΣ", "Привет, мир", "Ёлка ёлка",
    "שָׁלוֹם", "مرحبا بالعالم", "١٢٣", "नमस्ते दुनिया", "ওহে", "สวัสดีชาวโลก", "ສະບາຍດີ", "မင်္ဂလာပါ", "გამარჯობა", "Բարեւ", "ሰላም", "안녕하세요",
    "한국어 조선말", "日本語", "東京 タワー", "ひらがなカタカナ", "ｶﾀｶﾅ", "Ｆｕｌｌ　ｗｉｄｔｈ", "中文，标点。", "豈 更", "𠀀𪛖", "Tiếng Việt", "Übergrößenträger",
    "😀", "I ❤️ you 🎉🎉", "👩‍👩‍👧‍👦 family", "🇵🇹", "👍🏽", "½ ² ™ © ®", "“quoted” ‘words’ — and–dashes", "<b>bold</b>", "{\"a\": [1]}", "~`^|\\",
    "x" * 99, "x" * 100, "x" * 101, "é" * 100, "é" * 101, "word " * 30, "unaffable", "hyperparathyroidism", "fotography", "celo", "lolll",
    "electroencephalographically", "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch", "\U0001d54f\U0001d550", "Z̸a̷l̶g̵o̴",
    "a\u0301\u0302\u0303b", "\u0301", "e\u200d\u0301x", "\u202eevil", "\ue000private", "##ing ## # ##", "nn##ing",
]

PLAIN = [
    "tea", "Tea.", "I adopted a puppy last spring.", "When did she get her dog?", "She plays the cello in an orchestra.", "a celo lesson",
    "photography", "fotography", "What is it?", "My sister moved to Lisbon for a new job at the hospital.",
    "We went hiking in the mountains and it rained all day.", "Do you prefer coffee or tea in the morning?", "café au lait",
    "I'm allergic to peanuts, so please no satay sauce!", "The meeting is on Tuesday, 14 May, at 3:30 pm.", "日本語", "Привет, мир", "¿Dónde está?",
    "He was promoted to head of sales in 2021.", "Our flight to New York was cancelled.", "lol thats so funny haha", "I ❤️ you 🎉",
    "Thanks! Talk to you tomorrow.", "The doctor told me to cut down on salt and to exercise more.", "a", "bank of the river", "money in the bank",
    "It's been three years since we got married, and we still argue about who does the dishes.", "guitar guitar guitar", "x" * 120,
]


def odd():
    """ODD, and words among characters of every sort. Those of Unicode 3.2 are
    taken that are still of their sort, as the tokenizer's tables are old."""
    rnd = random.Random(1)
    sorts = {}
    for c in map(chr, range(0x20000)):
        sort = unicodedata.category(c)
        if sort not in ("Cn", "Cs") and sort == unicodedata.ucd_3_2_0.category(c):
            sorts.setdefault(sort, []).append(c)
    for _ in range(8):
        for sort in sorted(sorts):
            few = rnd.choices(sorts[sort], k=3)
            yield f"{few[0]}Tea{few[1]}s for{few[2]} two {few[0]}{few[2]}"
    yield from ODD


def pieces(reference):
    rows = []
    for text in odd():
        found = [p for p in reference.encode(text).tokens if p != "[UNK]"]
        rows.append(json.dumps({"text": text, "pieces": found}))
    return "[\n" + ",\n".join(rows) + "\n]\n"


def vectors(model):
    rows = [json.dumps({"text": t, "vector": [round(float(x), 6) for x in model.vector(t)]}) for t in PLAIN]
    return "[\n" + ",\n".join(rows) + "\n]\n"
