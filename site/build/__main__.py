"""Builds the site: ``python site/build --program PROGRAM --out target/site``. `make site` calls it."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from pathlib import Path

import check
import cli_reference
import documents
import links
import methods
import navigation
import pages
import python_reference
import r_reference
from mkdocs.commands.build import build
from mkdocs.config import load_config
from sessions import Tools

ROOT = Path(__file__).resolve().parents[2]
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def run_pages(tools: Tools, work: Path, out: Path, update: bool) -> list[str]:
    """Runs the pages whose commands are run, and puts them to `out` with the pictures that they made; what is wrong."""
    wrong = check.check_all(tools, work, update)
    for path in check.sources():
        target = out / path.relative_to(check.SOURCES)
        target.parent.mkdir(parents=True, exist_ok=True)
        # A page of a folder has pictures of its own, lest two be called the same.
        pictures = check.name_of(path)

        def placed(found: re.Match[str], pictures: str = pictures, target: Path = target) -> str:
            made = work / pictures / found[1]
            if not made.exists():
                wrong.append(f"{path}: no command makes {found[1]}")
                return found[0]
            name = f"{pictures}-{made.name}"
            (target.parent / "pictures").mkdir(exist_ok=True)
            shutil.copy(made, target.parent / "pictures" / name)
            return found[0].replace(f"({found[1]})", f"(pictures/{name})")

        text = IMAGE.sub(placed, path.read_text(encoding="utf-8"))
        text = "\n".join(line for line in text.split("\n") if not pages.HIDDEN.match(line))
        target.write_text(text, encoding="utf-8")
    return wrong


def rust_reference(target: Path, out: Path, site: Path) -> None:
    """The page that leads to the documentation of the library, which is copied if it was made (`make doc`)."""
    made = target / "doc"
    there = (made / "consilience" / "index.html").exists()
    lines = ["# Rust", "", "The library `consilience`: pure computation, no `unsafe`, about 150 public names at its root.", "", "```rust", '--8<-- "crates/consilience/examples/combine.rs"', "```", ""]
    if there:
        lines += ['<a href="../rust/consilience/index.html">The whole reference</a>, with the equations of every method in its module: what `cargo doc` makes.', ""]
    else:
        lines += ["The whole reference is what `make doc` makes, in `target/doc`; it was not there when this site was built.", ""]
    (out / "rust.md").write_text("\n".join(lines), encoding="utf-8")
    if there:
        keep = ("consilience", "consilience_core", "consilience_io", "consilience_report", "static.files", "src", "search.index", "trait.impl", "type.impl")
        for name in keep:
            if (made / name).is_dir():
                shutil.copytree(made / name, site / "rust" / name)
        for file in made.iterdir():
            if file.is_file() and file.suffix in (".html", ".js"):
                shutil.copy(file, site / "rust")


def main() -> int:
    """The exit code."""
    parser = check.arguments()
    parser.description = __doc__
    parser.add_argument("--target", type=Path, default=ROOT / "target", help="where cargo builds")
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "site", help="the folder of the site, which is replaced")
    options = parser.parse_args()
    work = options.target.absolute() / "site-build"
    source = work / "source"
    site = options.out.absolute()
    tools = check.tools_of(options)
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)

    wrong = run_pages(tools, work / "pages", source, options.update)
    if wrong:
        print(*wrong, "", "pages differ from what is printed: `make site-update` rewrites them", sep="\n")
        return 1
    names = documents.write(ROOT, source)
    method_names = methods.write(ROOT, tools.program, work / "methods", source / "methods")
    reference = source / "reference"
    cli_reference.write(tools.program, reference / "cli.md")
    python_reference.write(ROOT, reference)
    r_pages = r_reference.write(ROOT, work / "man", reference / "r")
    if r_pages is None:
        print("the reference of R is left out: there is no R on this machine")
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    shutil.copytree(ROOT / "site" / "theme", source / "theme")
    staging = work / "html"
    shutil.rmtree(staging, ignore_errors=True)
    (staging).mkdir()
    rust_reference(options.target.absolute(), reference, site)

    tutorials = [path.stem for path in check.sources() if path.parent.name == "tutorials" and path.stem != "index"]
    # Files that pages include are named from the root of the repository.
    os.chdir(ROOT)
    config = load_config(
        str(ROOT / "site" / "mkdocs.yml"), docs_dir=str(source), site_dir=str(staging), strict=True,
        nav=navigation.tree(names, method_names, r_pages, tutorials),
    )
    # What `strict` refuses is told as a warning first.
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    build(config)
    shutil.copytree(staging, site, dirs_exist_ok=True)
    count, broken = links.broken(site, skip=("rust",))
    print(*broken, sep="\n")
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file() and "rust" not in file.relative_to(site).parts[:1])
    html = [file for file in site.rglob("*.html") if file.relative_to(site).parts[0] != "rust"]
    print(f"{site}: {len(html)} pages, {size / 1e6:.1f} MB, {count} links, {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
