"""The reference of the Python package: from its docstrings, read without importing it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import griffe

PACKAGE = Path("crates/consilience-python/python")
#: The modules that users see, each a page.
MODULES = ("", "metrics", "pl", "tl", "spark", "compat")
ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|ref|exc|term):`~?([^`<]+?)(?: <[^>]+>)?`")
Named = griffe.Object | griffe.Alias


def text(words: str) -> str:
    """Text of a docstring as Markdown."""
    words = ROLE.sub(r"`\1`", words).replace("``", "`")
    words = re.sub(r"::\n", ":\n", words)
    # A session of Python among the text stays as it is.
    return "\n\n".join(f"```pycon\n{part}\n```" if part.startswith(">>> ") else part for part in words.split("\n\n"))


def names(module: Named) -> list[str]:
    """The public names of a module, as its ``__all__`` has them."""
    path = module.filepath
    assert isinstance(path, Path)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return [name for name, member in module.members.items() if not name.startswith("_") and not member.is_alias and (member.is_function or member.is_class)]


def signature(name: str, function: Named) -> str:
    """A function as it is called, one parameter per line if it is long."""
    assert isinstance(function, griffe.Function | griffe.Alias)
    parts: list[str] = []
    star = False
    for parameter in function.parameters:
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is griffe.ParameterKind.keyword_only and not star:
            parts.append("*")
            star = True
        mark = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(parameter.kind, "") if parameter.kind else ""
        star |= mark == "*"
        default = f" = {parameter.default}" if parameter.default is not None and not mark else ""
        kind = f": {parameter.annotation}" if parameter.annotation is not None else ""
        parts.append(f"{mark}{parameter.name}{kind}{default}")
    returns = f" -> {function.returns}" if function.returns is not None else ""
    line = f"{name}({', '.join(parts)}){returns}"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){returns}"


def kind_of(annotation: object) -> str:
    """A kind as it is written, without the brackets that a list of several gets when it is read as Python."""
    words = str(annotation or "")
    return words[1:-1] if words.startswith("(") and words.endswith(")") else words


def listed(items: list[tuple[str, str, str]]) -> list[str]:
    """Names, kinds and descriptions as a list of definitions."""
    lines: list[str] = []
    for name, kind, what in items:
        told = " ".join(text(what).split("\n\n")[0].split())
        rest = [paragraph for paragraph in text(what).split("\n\n")[1:]]
        lines += [f"`{name}`" + (f" : {text(kind)}" if kind else ""), f":   {told}", ""]
        lines += [f"    {' '.join(paragraph.split())}\n" for paragraph in rest]
    return lines


def sections(docstring: griffe.Docstring | None) -> list[str]:
    """A docstring as Markdown."""
    if docstring is None:
        return []
    lines: list[str] = []
    for part in docstring.parse("numpy", warnings=False):
        value = part.value
        if part.kind is griffe.DocstringSectionKind.text:
            lines += [text(value), ""]
        elif part.kind is griffe.DocstringSectionKind.examples:
            lines += ["**Examples**", ""]
            for kind, what in value:
                code = kind is griffe.DocstringSectionKind.examples
                lines += ["```pycon", what, "```", ""] if code else [text(what), ""]
        elif part.kind is griffe.DocstringSectionKind.admonition:
            lines += [f"**{part.title or 'Note'}**", "", text(value.description), ""]
        elif isinstance(value, list):
            lines += [f"**{part.kind.value.capitalize()}**", ""]
            lines += listed([(getattr(item, "name", "") or kind_of(item.annotation), kind_of(item.annotation) if getattr(item, "name", "") else "", item.description) for item in value])
    return lines


def described(name: str, what: Named, level: int) -> list[str]:
    """A function, a class with its methods, or a value."""
    head = "#" * level
    lines = [f"{head} {name} {{ #{name.replace('.', '-')} }}", ""]
    if what.is_function:
        return [*lines, "```python", signature(name, what), "```", "", *sections(what.docstring)]
    if what.is_class:
        init = what.all_members.get("__init__")
        if init is not None and not init.is_alias and init.is_function:
            lines += ["```python", signature(name, init).removesuffix(" -> None"), "```", ""]
        lines += sections(what.docstring)
        for member_name, member in what.members.items():
            if not member_name.startswith("_") and member.docstring is not None:
                kind = "property" if member.is_attribute else ""
                inner = described(f"{name}.{member_name}", member, level + 1)
                lines += [inner[0], "", *([f"*{kind}*", ""] if kind else []), *inner[2:]]
        return lines
    return [*lines, *sections(what.docstring)]


def write(root: Path, out: Path) -> None:
    """Writes a page per module to the folder `out`."""
    package = griffe.load("consilience", search_paths=[str(root / PACKAGE)], resolve_aliases=True, resolve_external=False)
    out.mkdir(parents=True, exist_ok=True)
    for module_name in MODULES:
        module = package[module_name] if module_name else package
        title = "Python" if not module_name else f"consilience.{module_name}"
        lines = [f"# {title}", "", *sections(module.docstring)]
        if not module_name:
            others = ", ".join(f"[`co.{other}`](python-{other}.md)" for other in MODULES if other)
            lines += [f"Modules: {others}.", ""]
        for name in names(module):
            what = module.members.get(name)
            if what is None or name in MODULES or name.startswith("__"):
                what = _estimator(package, name)
                if what is None:
                    continue
            if what.is_module:
                continue
            lines += described(name, what.final_target if isinstance(what, griffe.Alias) else what, 2)
        target = f"python-{module_name}.md" if module_name else "python.md"
        (out / target).write_text("\n".join(lines), encoding="utf-8")


def _estimator(package: griffe.Module | griffe.Object | griffe.Alias, name: str) -> Named | None:
    """A name that the package imports when it is asked for."""
    estimators = package.members["_estimators"].members
    return estimators.get(name) if not name.startswith("__") and name not in MODULES else None
