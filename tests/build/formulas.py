"""Read a formula off a page and evaluate it: what the book's closed forms use of LaTeX, and an error for the rest."""

import math
import re
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2] / "book"
SPACES = re.compile(r"\\[,;:! ]|\\q?quad|\\(?:d|t)?(?:ext)?style\b|\\[bB]igg?[lr]?\b|\\(?:left|right)\b|~")
TOKEN = re.compile(
    r"\s*(\d+(?:\.\d+)?|\\[a-zA-Z]+|[a-zA-Z]|[-+*/^_'(){}\[\]|,=])"  # a number, a command, a letter, a sign
)
FUNCTIONS = {
    "\\log": math.log,
    "\\tanh": math.tanh,
    "\\sin": math.sin,
    "\\cos": math.cos,
    "\\max": max,
    "\\min": min,
}
CONSTANTS = {"\\pi": math.pi, "e": math.e}
FRACTIONS = ("\\frac", "\\tfrac", "\\dfrac")


def displayed(label):
    """Return the formula with a label, such as `eq-sensitivity-rho`, as it stands on its page."""
    pattern = re.compile(r"\$\$((?:(?!\$\$).)*)\$\$ \(" + re.escape(label) + r"\)", re.DOTALL)
    (found,) = [match[1] for page in BOOK.rglob("*.md") for match in pattern.finditer(page.read_text(encoding="utf-8"))]
    return found


def stated(label):
    """Return all formulas of a statement with a label, such as `thm-linear-privacy`, in their order."""
    pattern = re.compile(
        r":::\{prf:\w+\}[^\n]*\n:label: " + re.escape(label) + r"\n(.*?)^:::", re.DOTALL | re.MULTILINE
    )
    (found,) = [match[1] for page in BOOK.rglob("*.md") for match in pattern.finditer(page.read_text(encoding="utf-8"))]
    return re.findall(r"\$\$(.*?)\$\$|\$(.*?)\$", found, re.DOTALL)


class Reader:
    """Evaluates one expression by recursive descent; neighbours are multiplied."""

    def __init__(self, text, names):
        self.tokens, self.place, text = [], 0, SPACES.sub(" ", text).strip().rstrip(".,")
        while text:
            match = TOKEN.match(text)
            if not match:
                raise ValueError(f"no number, name or sign: {text!r}")
            self.tokens.append(match[1])
            text = text[match.end() :].lstrip()
        self.names = CONSTANTS | names

    def next(self):
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, expected=None):
        token = self.next()
        if token is None or expected not in (None, token):
            raise ValueError(f"{expected or 'more'} expected, not {token}")
        self.place += 1
        return token

    def whole(self):
        value = self.sum()
        if self.next() is not None:
            raise ValueError(f"not understood from {self.next()!r} on")
        return value

    def sum(self):
        sign = -1 if self.next() == "-" else 1
        if self.next() in ("-", "+"):
            self.take()
        value = sign * self.product()
        while self.next() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self):
        value = self.power()
        while self.next() not in (None, "+", "-", ")", "}", "]", ",", "=", self.bar):
            if self.next() == "/":  # by all that follows without a sign, as the book writes
                self.take()
                value /= self.neighbours()
            else:
                if self.next() == "\\cdot":
                    self.take()
                value *= self.power()
        return value

    def neighbours(self):
        value = self.power()
        while self.next() not in (None, "+", "-", "/", "\\cdot", ")", "}", "]", ",", "=", self.bar):
            value *= self.power()
        return value

    bar = None  # the sign that closes an absolute value, inside one

    def power(self):
        value = self.atom()
        if self.next() == "^":
            self.take()
            value = value ** self.group()
        return value

    def group(self):
        """What is in braces, or the next number, letter or command; of a number only its first digit, as in TeX."""
        if self.next() == "{":
            self.take()
            value, _ = self.sum(), self.take("}")
            return value
        token = self.next()
        if token and token.isdigit() and len(token) > 1:
            self.tokens[self.place : self.place + 1] = [token[0], token[1:]]
        return self.atom()

    def atom(self):
        token = self.take()
        if token[0].isdigit():
            return float(token)
        if token in FRACTIONS:
            above = self.group()
            return above / self.group()
        if token == "\\sqrt":
            return math.sqrt(self.group())
        if token in FUNCTIONS:
            return self.function(FUNCTIONS[token])
        if token == "(":
            before, self.bar = self.bar, None
            value, _, self.bar = self.sum(), self.take(")"), before
            return value
        if token == "|":
            before, self.bar = self.bar, "|"
            value, _, self.bar = self.sum(), self.take("|"), before
            return abs(value)
        return self.named(token)

    def function(self, function):
        if self.next() == "(":
            self.take()
            values = [self.sum()]
            while self.next() == ",":
                self.take()
                values.append(self.sum())
            self.take(")")
        else:
            values = [self.power()]
            while self.next() is not None and (self.next() in self.names or self.next()[0].isdigit()):
                values[0] *= self.power()
        return function(*values)

    def named(self, token):
        name = token
        if self.next() == "_":
            self.take()
            if self.next() == "{":
                self.take()
                part = ""
                while self.next() != "}":
                    part += self.take()
                self.take()
            else:
                part = self.take()
            name += f"_{part}"
        while self.next() == "'":
            name += self.take()
        if name not in self.names:
            raise ValueError(f"no value is given for {name}")
        return self.names[name]


def evaluate(text, **names):
    r"""Return the value of an expression. Greek names are given without the backslash.

    Examples
    --------
    >>> evaluate(r"\tfrac12 b\,(1 + \sqrt d)^2 - |x|/b", b=2.0, d=4.0, x=-6.0)
    6.0
    """
    greek = {f"\\{name}": value for name, value in names.items() if len(name.partition("_")[0]) > 1}
    return Reader(text, names | greek).whole()
