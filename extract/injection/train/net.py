"""Learns the net of extract/injection from the words that `go run . -words FILE` writes.

    pip install -r requirements.txt
    python net.py WORDS ../net.bin

words.go tells what WORDS has, and net.go in the folder above what the net is and which weights its file has. JAX runs
on processors of all kinds, and on a GPU if it finds one. Sums come in no fixed order there, so another run makes a net
that is as good, and not the same to the last bit.
"""

import struct
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH, REACH, FILTERS, TAPS, HIDDEN, MARKS = 64, 5, 96, 3, 32, 112
DILATIONS = (2, 4, 8)
MAX_ROWS, MAX_MARKS = 3, 12  # of a word, as net.go has them
LENGTHS = (32, 64, 128, 256)  # texts are padded to one of these, and read up to the last

EPOCHS = 16
BATCH = 512  # texts of 32 words; of longer ones fewer
RATE = 3e-3  # of Adam, after 200 steps that lead up to it; then it falls along a cosine to 0
DECAY = 0.01
# Shares of what is left out each time, so that nothing decides alone: numbers of layers, and all marks or the vector
# of a word.
DROP, DROP_MARKS, DROP_VECTOR = 0.25, 0.15, 0.08
# How much the mean over the words of a harmless text counts beside the word that reads most like an order.
EACH_WORD = 0.3


def read(path):
    """Returns the rows of the embedder, and of each text whether it is an attack, whether an agent wrote it, its
    weight, and the rows, shares and marks of its words."""
    raw = open(path, "rb").read()
    rows, dimension = struct.unpack_from("<II", raw)
    at = 8 + 4 * rows * dimension
    table = np.frombuffer(raw, "<f4", rows * dimension, 8).reshape(rows, dimension)
    texts = []
    while at < len(raw):
        attack, agent, weight, words = struct.unpack_from("<BBfI", raw, at)
        at += 10
        kept = min(words, LENGTHS[-1])
        row = np.zeros((kept, MAX_ROWS), np.int32)
        share = np.zeros((kept, MAX_ROWS), np.float32)
        mark = np.full((kept, MAX_MARKS), MARKS, np.uint8)
        for i in range(words):
            some, marks = raw[at], raw[at + 1]
            at += 2
            if i < kept:
                for j in range(min(some, MAX_ROWS)):
                    row[i, j], share[i, j] = struct.unpack_from("<If", raw, at + 8 * j)
            at += 8 * some
            if i < kept:
                mark[i, : min(marks, MAX_MARKS)] = list(raw[at : at + min(marks, MAX_MARKS)])
            at += marks
        texts.append((attack, agent, weight, row, share, mark))
    return table, texts


def padded(texts):
    """Returns for each length the texts of that length as arrays."""
    out = {}
    for length in LENGTHS:
        shorter = [n for n in LENGTHS if n < length]
        some = [t for t in texts if len(t[3]) <= length and (not shorter or len(t[3]) > shorter[-1])]
        if not some:
            continue
        pad = lambda k, fill: np.stack(
            [np.pad(t[k], ((0, length - len(t[k])), (0, 0)), constant_values=fill) for t in some]
        )
        out[length] = {
            "attack": np.array([t[0] for t in some], np.float32),
            "agent": np.array([t[1] for t in some], np.float32),
            "weight": np.array([t[2] for t in some], np.float32),
            "words": np.array([len(t[3]) for t in some]),
            "rows": pad(3, 0),
            "shares": pad(4, 0).astype(np.float16),
            "marks": pad(5, MARKS),
        }
    return out


def new_net(key, dimension):
    """Returns weights to begin with. Their scales keep what each layer gives at about 1."""
    keys = iter(jax.random.split(key, 16))
    normal = lambda *shape, scale=1.0: scale * jax.random.normal(next(keys), shape) / np.sqrt(np.prod(shape[:-1]))
    net = {
        "project": normal(dimension, WIDTH, scale=2.0),
        "marks": 0.1 * jax.random.normal(next(keys), (MARKS, WIDTH)),
        "agent": jnp.zeros(WIDTH),
        "base": jnp.zeros(WIDTH),
        "first": normal(REACH, WIDTH, FILTERS),
        "first_biases": jnp.zeros(FILTERS),
    }
    for i in range(len(DILATIONS)):
        net[f"deeper{i}"] = normal(TAPS, FILTERS, FILTERS, scale=0.7)
        net[f"deeper{i}_biases"] = jnp.zeros(FILTERS)
    net["hidden"], net["rests"] = normal(FILTERS, HIDDEN), jnp.zeros(HIDDEN)
    net["out"], net["bias"] = 0.5 * jax.random.normal(next(keys), (HIDDEN,)), jnp.array(-2.0)
    return net


def layer(x, weights, biases, dilation):
    """Returns what a layer finds: the sums of its taps, and 0 for those below 0."""
    taps, length = weights.shape[0], x.shape[1]
    reach = (taps // 2) * dilation
    wide = jnp.pad(x, ((0, 0), (reach, reach), (0, 0)))
    return jax.nn.relu(sum(wide[:, k * dilation : k * dilation + length] @ weights[k] for k in range(taps)) + biases)


def scores(net, table, texts, key):
    """Returns the score of each word, with parts of the net left out."""
    keys = iter(jax.random.split(key, 8))
    batch, length = texts["rows"].shape[:2]
    there = (jnp.arange(length) < texts["words"][:, None])[..., None].astype(jnp.float32)
    kept = lambda share, *shape: jax.random.bernoulli(next(keys), 1 - share, shape)
    drop = lambda x: x * kept(DROP, *x.shape) / (1 - DROP)
    vectors = ((table @ net["project"])[texts["rows"]] * texts["shares"][..., None]).sum(2)
    marks = jnp.pad(net["marks"], ((0, 1), (0, 0)))[texts["marks"]].sum(2)  # MARKS is none
    x = vectors * kept(DROP_VECTOR, batch, length, 1) + marks * kept(DROP_MARKS, batch, length, 1)
    x = (x + net["base"] + texts["agent"][:, None, None] * net["agent"]) * there
    x = drop(layer(x, net["first"], net["first_biases"], 1) * there)
    for i, dilation in enumerate(DILATIONS):
        x = (x + drop(layer(x, net[f"deeper{i}"], net[f"deeper{i}_biases"], dilation))) * there
    hidden = drop(jax.nn.relu(x @ net["hidden"] + net["rests"]))
    return jnp.where(there[..., 0] > 0, hidden @ net["out"] + net["bias"], -30.0)


def loss(net, table, texts, weights, key):
    """Of a text the word counts that reads most like an order, and of a harmless one all words a little."""
    each = scores(net, table, texts, key)
    most = each.max(1)
    mean = (jax.nn.softplus(each) * (each > -29)).sum(1) / texts["words"]
    harmless = jax.nn.softplus(most) + EACH_WORD * mean
    return ((texts["attack"] * jax.nn.softplus(-most) + (1 - texts["attack"]) * harmless) * weights).mean()


def learn(table, groups, seed=1):
    """Returns weights learned by Adam (Kingma and Ba, 2015). The root of a text's weight tells how often it is drawn,
    and the root how much it counts then."""
    sizes = {length: max(64, BATCH * 32 // length) for length in groups}
    steps = {length: len(group["words"]) // sizes[length] for length, group in groups.items()}
    total = EPOCHS * sum(steps.values())
    rate = optax.warmup_cosine_decay_schedule(0, RATE, min(200, total // 10), total, 0)
    adam = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, b2=0.99, weight_decay=DECAY))
    key = jax.random.PRNGKey(seed)
    net = new_net(key, table.shape[1])
    state = adam.init(net)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(net, state, texts, weights, key):
        value, slope = jax.value_and_grad(loss)(net, table, texts, weights, key)
        change, state = adam.update(slope, state, net)
        return optax.apply_updates(net, change), state, value

    random = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        batches = []
        for length, group in groups.items():
            roots = np.sqrt(group["weight"])
            drawn = random.choice(len(roots), steps[length] * sizes[length], p=roots / roots.sum())
            batches += [(length, some) for some in np.split(drawn, steps[length])] if steps[length] else []
        sum_ = 0.0
        for at in random.permutation(len(batches)):
            length, some = batches[at]
            group = groups[length]
            weights = np.sqrt(group["weight"])[some] / np.sqrt(group["weight"]).mean()
            key, now = jax.random.split(key)
            net, state, value = step(net, state, {k: v[some] for k, v in group.items()}, weights, now)
            sum_ += float(value)
        print(f"epoch {epoch + 1}: loss {sum_ / len(batches):.4f}", file=sys.stderr, flush=True)
    return net


def write(net, path):
    names = ["project", "marks", "agent", "base", "first", "first_biases"]
    for i in range(len(DILATIONS)):
        names += [f"deeper{i}", f"deeper{i}_biases"]
    names += ["hidden", "rests", "out", "bias"]
    with open(path, "wb") as file:
        for name in names:
            file.write(np.asarray(net[name], "<f4").tobytes())


if __name__ == "__main__":
    rows, texts = read(sys.argv[1])
    write(learn(jnp.asarray(rows), padded(texts)), sys.argv[2])
