"""Check a certificate without the rest of the package: `python check_certificate.py FILE`.

Needs only z3, and knows the targets of the package, not those of plugins. It shares no code with
the program that wrote the certificate: targets, proof obligations and rounding bounds are written
down here a second time.
"""

import json
import re
import struct
import sys
from fractions import Fraction as F

try:
    import z3
except ModuleNotFoundError:
    sys.exit("error: the checker needs the solver z3; install it with `pip install z3-solver`")

INF = float("inf")
OPERATIONS = ("add", "sub", "mul", "div", "min", "max", "pow")
UNIT = 2.0**-24  # relative error of an operation in float32
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


def bounds(e, key, weight):
    """Bound a value above 0 and its relative error in float32: low, high, error, or None."""
    if isinstance(e, str):
        return key if e == "key" else weight
    if not isinstance(e, list):
        exact = struct.unpack("f", struct.pack("f", e))[0] == e
        return None if e < 0 else (e, e, 0.0 if exact else UNIT)
    if e[0] == "pow":
        return bounds(power(e[1], int(e[2])), key, weight)
    a, b = bounds(e[1], key, weight), bounds(e[2], key, weight)
    if a is None or b is None or e[0] == "sub" or (e[0] == "div" and b[0] <= 0):
        return None
    (low, high, x), (other_low, other_high, y) = a, b
    if e[0] in ("min", "max"):
        pick = min if e[0] == "min" else max
        return pick(low, other_low), pick(high, other_high), max(x, y)
    low, high, error = {
        "add": lambda: (low + other_low, high + other_high, max(x, y)),
        "mul": lambda: (low * other_low, high * other_high, x + y + x * y),
        "div": lambda: (low / other_high, high / other_low, (x + y) / (1 - y) + UNIT),
    }[e[0]]()
    if high >= 2.0**128 or (e[0] != "add" and low < 2.0**-126) or error >= 0.5:
        return None
    return low, high, error + UNIT * (1 + error)


def power(base, exponent):
    """Return a power as products."""
    return base if exponent == 1 else ["mul", power(base, exponent - 1), base]


def rounding_holds(certificate):
    """Whether every gap of the certificate is at least the bound computed here."""
    step, rounding = certificate["program"]["step"], certificate["rounding"]
    low, high = rounding["weights"]
    source = TARGETS[certificate["program"]["target"]][2]
    weight = (low, high, 0.0)
    key, worst, done = (source, source, 0.0), 0.0, 1
    if source == INF:  # only min and max have the key below them: the first key is a weight
        key = bounds(step, (INF, INF, 0.0), weight)
    for row in rounding["rows"]:
        while done < row["num_nodes"] and key is not None:
            key = bounds(step, key, weight)
            done += 1
            worst = worst if key is None else max(worst, key[2])
        # These bounds are rounded themselves, by less than a millionth.
        if row["gap"] is not None and (
            key is None or not row["gap"] >= 2 * worst / (1 - worst) * (1 - 1e-6)
        ):
            return False
    return True


def is_step(e, depth=0):
    """Whether this is an expression: a number, key, weight, or an operation on two of them."""
    if isinstance(e, list):
        if depth > 50 or len(e) != 3 or e[0] not in OPERATIONS or not is_step(e[1], depth + 1):
            return False
        if e[0] == "pow":
            return type(e[2]) in (int, float) and e[2] in range(1, 9)
        return is_step(e[2], depth + 1)
    if type(e) in (int, float):
        return e == 0 or 2.0**-126 <= abs(e) < 2.0**128
    return isinstance(e, str) and e in ("key", "weight")


def is_row(row):
    """Whether this is a row of rounding bounds."""
    return (
        isinstance(row, dict)
        and type(row.get("num_nodes")) is int
        and 1 <= row["num_nodes"] <= 10**6
        and (row.get("gap") is None or type(row["gap"]) is float)
    )


def is_certificate(data):
    """Whether the parts that are checked have the right form."""
    program = data.get("program")
    rounding = data.get("rounding")
    if not isinstance(program, dict) or not isinstance(rounding, dict):
        return False
    weights, rows = rounding.get("weights"), rounding.get("rows")
    return (
        data.get("format") == "algotransfer certificate 1"
        and type(data.get("certified")) is bool
        and isinstance(data.get("proven"), list)
        and all(isinstance(claim, str) for claim in data["proven"])
        and isinstance(data.get("scale"), str)
        and re.fullmatch(r"[0-9]{1,400}(/[1-9][0-9]{0,400})?", data["scale"]) is not None
        and is_step(program.get("step"))
        and type(program.get("smaller_is_better")) is bool
        and program.get("replace_if") in ("better", "not worse")
        and isinstance(program.get("target"), str)
        and isinstance(weights, list)
        and len(weights) == 2
        and all(type(end) is float for end in weights)
        and 0 < weights[0] <= weights[1] < 2.0**128
        and isinstance(rows, list)
        and len(rows) <= 100
        and all(is_row(row) for row in rows)
    )


def check(certificate):
    """Return what is wrong with a certificate, as a list of sentences."""
    if not isinstance(certificate, dict) or not is_certificate(certificate):
        return ["it does not have the form of a certificate"]
    name = certificate["program"]["target"]
    if name not in TARGETS:
        return [f"{name!r:.40} is not among the targets that this checker knows"]
    truth: dict[str, bool] = dict(obligations(certificate))
    wrong = [
        f"{claim!r:.40} does not hold" for claim in certificate["proven"] if not truth.get(claim)
    ]
    needed = {"direction", "defined", "closed", "equal"} | {"infinity"} & truth.keys()
    if certificate["program"]["replace_if"] != "better":
        needed.add("strict")
    if certificate["certified"] and not all(truth[claim] for claim in needed):
        wrong.append("it says certified, which does not follow")
    if not {"monotone", "no gain"} <= {name for name, holds in truth.items() if holds} and any(
        row["gap"] != 0 for row in certificate["rounding"]["rows"]
    ):
        wrong.append("bounds on rounding errors need the laws 'monotone' and 'no gain'")
    if not rounding_holds(certificate):
        wrong.append("a bound on rounding errors is too small")
    return wrong


def verdict(certificate):
    """Return the result of a certificate without an error, in words of this checker."""
    program = certificate["program"]
    if not certificate["certified"]:
        return "what it proves holds; the program is not certified (the reasons are not checked)"
    exact = "predecessors" if program["replace_if"] == "better" else "equally good predecessors"
    return (
        f"certified: on every graph the program has the keys of {program['target']} times "
        f"{certificate['scale']}, and its {exact}, in exact arithmetic; rounding bounds hold"
    )


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        content = json.load(file)
    errors = check(content)
    for error in errors:
        print(f"refused: {error}")
    if not errors:
        print(verdict(content))
    sys.exit(bool(errors))
