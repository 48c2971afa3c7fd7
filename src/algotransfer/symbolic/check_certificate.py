"""Check a certificate without the rest of the package: `python check_certificate.py FILE`.

Needs only z3. It shares no code with the program that wrote the certificate: targets, proof
obligations and rounding bounds are written down here a second time.
"""

import json
import struct
import sys
from fractions import Fraction as F

import z3

INF = float("inf")
UNIT = 2.0**-24  # relative error of an operation in float32
# In the parallel framework, unreached nodes send candidates, too.
SEQUENTIAL = ("dijkstra", "prim", "widest_seq", "reliable_seq")
# name: step, smaller is better, key of the source, key of others, lowest and highest weight
TARGETS = {
    "bellman_ford": (["add", "key", "weight"], True, 0.0, INF, 0.0, INF),
    "dijkstra": (["add", "key", "weight"], True, 0.0, INF, 0.0, INF),
    "dag_shortest_paths": (["add", "key", "weight"], True, 0.0, INF, 0.0, INF),
    "reliable_par": (["mul", "key", "weight"], False, 1.0, 0.0, 0.0, 1.0),
    "reliable_seq": (["mul", "key", "weight"], False, 1.0, 0.0, 0.0, 1.0),
    "widest_par": (["min", "key", "weight"], False, INF, 0.0, 0.0, INF),
    "widest_seq": (["min", "key", "weight"], False, INF, 0.0, 0.0, INF),
    "minimax_par": (["max", "key", "weight"], True, 0.0, INF, 0.0, INF),
    "prim": ("weight", True, 0.0, INF, 0.0, INF),
    "bfs": ("key", False, 1.0, 0.0, -INF, INF),
}


def term(e, key, weight):
    """Return an expression as a term of z3."""
    if e == "key":
        return key
    if e == "weight":
        return weight
    if isinstance(e, (int, float)):
        return z3.Q(*F(e).as_integer_ratio())
    op, a, b = e[0], term(e[1], key, weight), e[2]
    if op == "pow":
        product = a
        for _ in range(int(b) - 1):
            product = product * a
        return product
    b = term(b, key, weight)
    if op in ("min", "max"):
        return z3.If((a < b) if op == "min" else (a > b), a, b)
    return {"add": a + b, "sub": a - b, "mul": a * b}[op] if op != "div" else a / b


def holds(assumptions, conclusion):
    """Return whether a conclusion follows for all real numbers."""
    solver = z3.Solver()
    solver.set("timeout", 30_000)
    solver.add(*assumptions)
    solver.add(z3.Not(conclusion))
    return solver.check() == z3.unsat


def obligations(certificate):
    """Yield the names of claims with their truth, from the program and the table of targets."""
    program = certificate["program"]
    step, smaller = program["step"], program["smaller_is_better"]
    target, direction, source, others, low, high = TARGETS[program["target"]]
    k, m, w = z3.Reals("k m w")

    def reached(x):
        bounds = []
        if source != INF:
            bounds.append(x >= source if direction else x <= source)
        if others != INF:
            bounds.append(x < others if direction else x > others)
        return z3.And(*bounds)

    domain = [reached(k)]
    if low != -INF:
        domain.append(w > low)
    if high != INF:
        domain.append(w <= high)
    c = term(step, k, w)

    def divisors(e):
        if isinstance(e, list):
            yield from divisors(e[1])
            yield from divisors(e[2])
            if e[0] == "div":
                yield term(e[2], k, w)

    yield "defined", holds(domain, z3.And(*[d != 0 for d in divisors(step)]))
    yield "closed", holds(domain, reached(c))
    yield "monotone", holds([*domain, reached(m), k <= m], c <= term(step, m, w))
    yield "no gain", holds(domain, c >= k if smaller else c <= k)
    yield "strict", holds(domain, c > k if smaller else c < k)
    if source != INF:
        yield "source", holds(domain, c >= source if smaller else c <= source)
    if others != INF:
        c = term(step, z3.RealVal(others), w)
        yield "unreached", holds(domain, c >= others if smaller else c <= others)
    yield "direction", smaller == direction
    s = F(certificate["scale"])
    free = s == 1 or (source in (0.0, INF) and others in (0.0, INF))
    factor = z3.Q(s.numerator, s.denominator)
    scaled = term(step, factor * k, w) == factor * term(target, k, w)
    yield "equal", s > 0 and free and holds(domain, scaled)
    if source == INF:  # the first candidates, from any key that is large enough
        rest = domain[1:]
        same = term(step, k, w) == factor * term(target, m, w)
        plain = not any(arithmetic_with_key(step))
        yield (
            "infinity",
            plain and holds([*rest, k >= w, k >= factor * w, m >= w, k > 0, m > 0], same),
        )


def arithmetic_with_key(e):
    """Yield whether operations other than min and max have the key below them."""
    if isinstance(e, list):
        yield e[0] not in ("min", "max") and "key" in str(e)
        yield from arithmetic_with_key(e[1])
        yield from arithmetic_with_key(e[2])


def relative_error(e, key):
    """Bound the relative error of a step on numbers above 0, or return None."""
    if e == "key":
        return key
    if e == "weight":
        return 0.0
    if isinstance(e, (int, float)):
        exact = struct.unpack("f", struct.pack("f", e))[0] == e
        return None if e <= 0 else 0.0 if exact else UNIT
    if e[0] == "pow":
        return relative_error(power(e[1], int(e[2])), key)
    a, b = relative_error(e[1], key), relative_error(e[2], key)
    if a is None or b is None or e[0] == "sub":
        return None
    if e[0] in ("min", "max"):
        return max(a, b)
    before = {"add": max(a, b), "mul": a + b + a * b, "div": (a + b) / (1 - b)}[e[0]]
    return before + UNIT * (1 + before)


def power(base, exponent):
    """Return a power as products."""
    return base if exponent == 1 else ["mul", power(base, exponent - 1), base]


def rounding_holds(certificate):
    """Whether every relative gap of the certificate is at least the bound computed here."""
    step, error, done = certificate["program"]["step"], 0.0, 1
    for row in certificate["rounding"]["rows"]:
        if row["gap"] is None or not row["is_relative"]:
            continue
        while done < row["num_nodes"]:
            error = relative_error(step, error)
            done += 1
            if error is None:
                return False
        # These bounds are rounded themselves, by less than a millionth.
        if row["gap"] < 2 * error / (1 - error) * (1 - 1e-6):
            return False
    return True


def check(certificate):
    """Return what is wrong with a certificate, as a list of sentences."""
    if certificate.get("format") != "algotransfer certificate 1":
        return ["it is no certificate of a known format"]
    name = certificate["program"]["target"]
    if name not in TARGETS:
        return [f"{name} is not among the targets that this checker knows"]
    truth: dict[str, bool] = dict(obligations(certificate))
    wrong = [f"'{claim}' does not hold" for claim in certificate["proven"] if not truth.get(claim)]
    needed = {"direction", "defined", "equal"} | {"infinity"} & truth.keys()
    if name not in SEQUENTIAL:
        needed |= {"unreached"} & truth.keys()
    if certificate["program"]["replace_if"] != "better":
        needed.add("strict")
    if certificate["certified"] and not all(truth[claim] for claim in needed):
        wrong.append("it says certified, which does not follow")
    if not rounding_holds(certificate):
        wrong.append("a bound on rounding errors is too small")
    return wrong


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        content = json.load(file)
    errors = check(content)
    for error in errors:
        print(f"refused: {error}")
    if not errors:
        verdict = "certified" if content["certified"] else "not certified"
        print(f"all claims of the certificate hold; the program is {verdict}: {content['reason']}")
    sys.exit(bool(errors))
