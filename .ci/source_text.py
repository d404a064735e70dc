"""Reads Swift and C well enough for size and import rules: blanks out comments and the text of literals."""

import os
import re
import sys

_SWIFT_STRING = re.compile(r'(#*)("""|")')
_REGEX_BEFORE = set("=(,[{:;!&|?")
_REGEX_WORDS = ("return", "in", "try", "await", "case")


def source_files(*roots, extensions=(".swift", ".c", ".h")):
    """Paths of the source files under `roots`, without build directories and the code of tutorials, sorted."""
    paths = []
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".") and not name.endswith(".docc")]
            paths += [os.path.join(folder, name) for name in names if name.endswith(extensions)]
    return sorted(paths)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def line_at(text, index):
    return text.count("\n", 0, index) + 1


class SourceText:
    """`code` is as long as the source, with comments and literals as spaces. `comments` are the lines that hold one."""

    def __init__(self, text, language):
        self.text = text
        self.comments = set()
        self._out = list(text)
        if language == "swift":
            self._swift(0, None)
        else:
            self._c()
        self.code = "".join(self._out)

    def _blank(self, start, end):
        for index in range(start, min(end, len(self.text))):
            if self.text[index] != "\n":
                self._out[index] = " "

    def _comment(self, start, end):
        self._blank(start, end)
        self.comments.update(range(line_at(self.text, start), line_at(self.text, end) + 1))

    def _end_of_line(self, start):
        end = self.text.find("\n", start)
        return len(self.text) if end < 0 else end

    def _skip_comment(self, start, nests):
        """Blanks the comment at `start`, if there is one, and returns the index behind it."""
        text = self.text
        if text.startswith("//", start):
            end = self._end_of_line(start)
        elif text.startswith("/*", start):
            depth, end = 1, start + 2
            while end < len(text) and depth > 0:
                if nests and text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
        else:
            return start
        self._comment(start, end)
        return end

    # Swift

    def _swift(self, index, closing):
        """Reads code up to the `closing` parenthesis of an interpolation, or to the end."""
        text, depth = self.text, 0
        while index < len(text):
            behind = self._skip_comment(index, nests=True)
            if behind == index:
                behind = self._skip_literal(index)
            if behind > index:
                index = behind
                continue
            if closing and text[index] == "(":
                depth += 1
            elif closing and text[index] == ")":
                if depth == 0:
                    return index
                depth -= 1
            index += 1
        return index

    def _skip_literal(self, start):
        match = _SWIFT_STRING.match(self.text, start)
        if match:
            return self._swift_string(start, match)
        match = re.compile(r"(#+)/").match(self.text, start)
        if match:
            return self._extended_regex(start, match)
        if self.text[start] == "/" and self._may_be_regex(start):
            return self._bare_regex(start)
        return start

    def _swift_string(self, start, match):
        text, hashes = self.text, match[1]
        end_mark, escape = match[2] + hashes, "\\" + hashes
        index, piece = match.end(), start
        while index < len(text):
            if text.startswith(end_mark, index):
                index += len(end_mark)
                break
            if text.startswith(escape + "(", index):
                opening = index + len(escape) + 1
                self._blank(piece, opening)
                index = piece = self._swift(opening, ")")
                index += 1
            elif text.startswith(escape, index):
                index += len(escape) + 1
            elif text[index] == "\n" and match[2] == '"':
                break
            else:
                index += 1
        self._blank(piece, index)
        return index

    def _extended_regex(self, start, match):
        end = self.text.find("/" + match[1], match.end())
        end = len(self.text) if end < 0 else end + 1 + len(match[1])
        self._blank(start, end)
        return end

    def _may_be_regex(self, start):
        following = self.text[start + 1 : start + 2]
        if following in ("", " ", "\t", "\n", "/", "*"):
            return False
        before = "".join(self._out[max(0, start - 40) : start]).rstrip(" \t")
        if not before or before[-1] == "\n" or before[-1] in _REGEX_BEFORE:
            return True
        return re.search(r"\b(%s)$" % "|".join(_REGEX_WORDS), before) is not None

    def _bare_regex(self, start):
        match = re.compile(r"/(?:\\.|[^/\\\n])+/").match(self.text, start)
        if not match:
            return start
        self._blank(start, match.end())
        return match.end()

    # C

    def _c(self):
        text, index = self.text, 0
        literal = re.compile(r'"(?:\\[\s\S]|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'")
        while index < len(text):
            behind = self._skip_comment(index, nests=False)
            if behind == index:
                match = literal.match(text, index)
                if match:
                    self._blank(index, match.end())
                    behind = match.end()
            index = behind if behind > index else index + 1


def load(path):
    return SourceText(read(path), "swift" if path.endswith(".swift") else "c")


def report(failures, passed):
    """Prints every failure, or what was checked, and ends the program."""
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        sys.exit(f"{len(failures)} found")
    print(passed)
