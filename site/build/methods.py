"""A page per method, and one with all of them: from ``METHODS``, the documentation of the modules, and figures made anew."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import network
import rust

#: How the ensemble of all figures is made.
MEMBERS = "--base kmeans --scheme random-k --base-k 10..20 --size 30"
Method = dict[str, Any]


def table(program: Path) -> list[Method]:
    """The methods as the program tells of them."""
    told = subprocess.run([program, "methods", "--json"], stdout=subprocess.PIPE, check=True).stdout
    found: list[Method] = json.loads(told)["methods"]
    return found


def told_k(method: Method, k: int) -> str:
    """The option for the number of clusters, or nothing where the method refuses one."""
    return "" if method["chooses_k"] == "always" else f" --k {k}"


def command(method: Method) -> str:
    """The command whose result is drawn."""
    if method["needs_edges"]:
        return f"consilience combine labels.csv --id patient --edges contacts.tsv --method {method['name']} -o communities.csv --edge-weights weighted.csv"
    return f"consilience run rings.csv --method {method['name']}{told_k(method, 2)} {MEMBERS} -o {method['name']}"


def figures(program: Path, methods: list[Method], cache: Path, out: Path) -> None:
    """A figure per method in `out`. They are kept in `cache` as long as the program and what draws is the same."""
    stamp = cache / "program"
    state = program.stat()
    drawing = Path(network.__file__).read_text(encoding="utf-8")
    version = f"{state.st_size} {state.st_mtime_ns} {[command(method) for method in methods]} {drawing}"
    if not stamp.exists() or stamp.read_text() != version:
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)
        bin_folder = cache / ".bin"
        bin_folder.mkdir()
        (bin_folder / "consilience").symlink_to(program.resolve())
        environment = os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}"}

        def run(line: str) -> None:
            done = subprocess.run(line, shell=True, cwd=cache, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{line}\n{done.stdout}")

        def draw(method: Method) -> None:
            name = method["name"]
            run(f"{command(method)} --threads 1")
            if method["needs_edges"]:
                network.draw(cache / "communities.csv", cache / "weighted.csv", cache / f"{name}.svg")
            else:
                run(f"consilience figure {name} scatter --bare --width 5.5 -o {name}.svg")

        run("consilience demo --tables")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(draw, methods))
        stamp.write_text(version)
    out.mkdir(parents=True, exist_ok=True)
    for method in methods:
        shutil.copy(cache / f"{method['name']}.svg", out)


def cost(text: str) -> str:
    """A cost as an equation where it is one: ``O(u r^2)`` and words around it."""
    # The letters of a cost are separated by spaces, words are longer: u, r, k, K, t, s, v.
    def maths(found: re.Match[str]) -> str:
        inner = found[0].replace(" log ", r" \log ").replace("<=", r"\le ")
        return f"${inner}$"

    return re.sub(r"O\((?:[^()]|\([^()]*\))*\)|[uv]\^\d", maths, text)


def when(method: Method) -> list[str]:
    """When to use it, in sentences that follow from what is declared."""
    name, lines = method["name"], []
    lines.append({
        "never": "**Number of clusters:** it is told. Give `--k`; without it, the number is found in the clusterings or features first.",
        "unless given": "**Number of clusters:** finds it by itself, or takes the one that you give.",
        "always": "**Number of clusters:** always finds it by itself; a given number is refused.",
    }[method["chooses_k"]])
    if method["needs_edges"]:
        lines.append("**Network:** needs the edges of a network of the objects (`--edges`).")
    lines.append(
        "**Soft clusterings:** uses memberships as they are." if method["soft"] == "uses"
        else "**Soft clusterings:** takes the cluster of largest membership of each object, which you are warned of."
    )
    lines.append(f"**Missing labels:** {method['missing']}." if method["missing"] else "**Missing labels:** refused.")
    lines.append(f"**Size:** {size(method)} Time {cost(method['time'])}; memory {cost(method['memory'])} ([letters](../docs/glossary.md#what-is-computed)).")
    gives = [words for key, words in (
        ("membership", "a soft consensus (`--membership`)"), ("correspondences", "what corresponds to what (`--correspondence`)"),
        ("dendrogram", "a dendrogram (`--dendrogram`)"), ("affinity", "the matrix that it learns (`--coassociation`)"),
    ) if method["gives"][key]]
    if gives:
        lines.append(f"**Besides labels:** {', '.join(gives)}.")
    if method["takes_start"]:
        lines.append("**Start:** can go on from a clustering that you give (`--init`, `--add`).")
    if name == "scec":
        lines.append("**Patents:** reported; see below and NOTICE.")
    return lines


def size(method: Method) -> str:
    """What the declared cost means for large tables."""
    time, memory = method["time"], method["memory"]
    if "u^3" in time:
        return "time grows with the cube of the number of distinct objects: for some thousands of them at most."
    if re.search(r"(?<!8 )[uv]\^2|u x u", memory):
        return "holds a matrix over distinct objects: for some thousands of them at most."
    if "u^2" in time:
        more = " (with missing labels it also holds a matrix over them)" if "with missing" in memory else ""
        return f"time grows with the square of the number of distinct objects{more}: for tens of thousands of them."
    return "time grows about in proportion to the number of distinct objects: for large tables too."


def page(method: Method, module: str, root: Path, pages: dict[str, str], same: list[str]) -> str:
    """The page of a method."""
    name = method["name"]
    title, text = rust.documentation(root, module)
    k_python = "" if method["chooses_k"] == "always" else ", n_clusters=3"
    k_r = "" if method["chooses_k"] == "always" else ", k = 3"
    edges = {True: (" --edges network.tsv", ", edges=edges", ", edges = edges"), False: ("", "", "")}[method["needs_edges"]]
    lines = [
        f"# {name}", "", f"{method['title'][0].upper()}{method['title'][1:]}.", "",
        f"![The consensus by {name}](figures/{name}.svg){{ .figure }}", "", f"*{caption(method)}*", "", "```", command(method), "```", "",
        "## When to use it", "", *(f"- {line}" for line in when(method)), "",
        "## How to call it", "",
        "```", f"consilience combine labels.csv --method {name}{told_k(method, 3)}{edges[0]} -o consensus.csv", "```", "",
        "```python", f'co.consensus(labels, method="{name}"{k_python}{edges[1]})', "```", "",
        "```r", f'consensus(labels, method = "{name}"{k_r}{edges[2]})', "```", "",
    ]
    if method["parameters"]:
        lines += ["## Parameters", "", "| name | default | range | meaning |", "|---|---|---|---|"]
        lines += [f"| `{p['name']}` | `{p['default']}` | {p['range']} | {p['help'].replace('|', chr(92) + '|')} |" for p in method["parameters"]]
        lines += ["", f"On the command line `--set {method['parameters'][0]['name']}=VALUE`, in Python by `params=`, in R as further arguments.", ""]
    lines += ["## What it does", "", f"**{title}**", ""]
    if same:
        others = " and ".join(f"[`{other}`]({other}.md)" for other in same)
        lines += [f"The same description is of {others}, which differ in what is said above.", ""]
    lines += [rust.markdown(text, pages), ""]
    lines += ["## Reference", "", f"> {method['reference']}", ""]
    return "\n".join(lines)


def caption(method: Method) -> str:
    """What the figure shows."""
    if method["needs_edges"]:
        return "60 patients who have been in contact; a line is as dark as the share of five clusterings that put its ends together."
    return (
        "Two half rings, from 30 runs of k-means with 10 to 20 clusters, none of which follows the rings: "
        "does the method join their pieces? One example, not a ranking."
    )


def overview(methods: list[Method]) -> str:
    """The page with all methods."""
    yes = {True: "yes", False: ""}
    lines = [
        "# Methods", "",
        f"{len(methods)} ways to combine clusterings, behind one interface. You need not choose: `auto` takes one that suits the number of objects, missing labels and soft members, "
        "and says which and why. How they compare on labels alone: [accuracy](../docs/accuracy.md).", "",
        "| method | what it is | finds k | soft | gives | size |", "|---|---|---|---|---|---|",
    ]
    for method in methods:
        gives = ", ".join(key for key in ("membership", "correspondences", "dendrogram", "affinity") if method["gives"][key])
        scale = {"time grows with the c": "small", "holds a matrix over d": "small", "time grows with the s": "medium"}.get(size(method)[:21], "large")
        finds = {"never": "", "unless given": "yes", "always": "always"}[method["chooses_k"]]
        soft = yes[method["soft"] == "uses"]
        lines.append(f"| [`{method['name']}`]({method['name']}.md) | {method['title']} | {finds} | {soft} | {gives} | {scale} |")
    lines += [
        "", "*finds k*: by itself unless given, or always. *soft*: uses memberships; the others take the largest. *size*, by distinct objects: small is some thousands, medium tens of "
        "thousands. All accept missing labels.", "",
        "## All of them on one example", "",
        f"Two half rings, from 30 runs of k-means with 10 to 20 clusters each (`{MEMBERS}`), none of which follows the rings; told to make two clusters where a method is told. Methods that find "
        "the number by themselves may keep the pieces. One example, not a ranking.", "", '<div class="thumbnails" markdown>', "",
    ]
    lines += [f"[![](figures/{m['name']}.svg){{ loading=lazy }} `{m['name']}`]({m['name']}.md)" for m in methods if not m["needs_edges"]]
    return "\n".join([*lines, "", "</div>", ""])


def write(root: Path, program: Path, cache: Path, out: Path) -> list[str]:
    """Writes all pages to `out`; the names of the methods, in order."""
    methods = table(program)
    found = rust.modules(root)
    if len(found) != len(methods):
        raise ValueError(f"the program knows {len(methods)} methods, the sources have {len(found)}: is it built from them?")
    figures(program, methods, cache, out / "figures")
    names = [method["name"] for method in methods]
    pages = {module: f"{name}.md" for name, module in reversed(list(zip(names, found, strict=True)))}
    for method, module in zip(methods, found, strict=True):
        same = [name for name, other in zip(names, found, strict=True) if other == module and name != method["name"]]
        (out / f"{method['name']}.md").write_text(page(method, module, root, pages, same), encoding="utf-8")
    (out / "index.md").write_text(overview(methods), encoding="utf-8")
    return names
