"""The reference of the R package: from its help pages, by R itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

MAN = Path("crates/consilience-r/package/man")
#: Pages link to each other by the names that each is found by.
CONVERT = r"""
files <- commandArgs(trailingOnly = TRUE)
links <- unlist(lapply(files, function(file) {
  names <- sub("^\\\\alias\\{(.*)\\}$", "\\1", grep("^\\\\alias\\{", readLines(file), value = TRUE))
  stats::setNames(rep(sub("[.]Rd$", ".html", basename(file)), length(names)), names)
}))
for (file in files) tools::Rd2HTML(file, out = paste0(file, ".html"), package = c("consilience", ""), Links = links, Links2 = character(), dynamic = FALSE)
"""


def body(html: str, known: set[str]) -> tuple[str, str]:
    """The title of a help page and what it says, as a fragment for a page of the site."""
    found = re.search(r"(?s)<h2[^>]*>(.*?)</h2>(.*?)(?:<hr>|</div>\s*</body>|</body>)", html)
    if found is None:
        raise ValueError("a help page of R has no title")
    title, inner = found[1].strip(), found[2]
    # Headings of sections, without the anchors that R gives them alike on every page.
    inner = re.sub(r"<h3[^>]*>(.*?)</h3>", r"\n<h2>\1</h2>\n", inner)
    inner = re.sub(r'(?s)<pre><code class="language-R">(.*?)</code></pre>', lambda code: "\n<pre><code>" + code[1].strip("\n") + "</code></pre>\n", inner)

    def link(found: re.Match[str]) -> str:
        page = Path(found[1]).stem
        return f'<a href="{page}.html">{found[2]}</a>' if page in known else found[2]

    inner = re.sub(r'(?s)<a href="([^"]*)">(.*?)</a>', link, inner)
    return title, re.sub(r' id="[^"]*"', "", inner)


def write(root: Path, work: Path, out: Path) -> list[str] | None:
    """Writes a page per help page to `out`, and one that lists them; their names, or None where there is no R."""
    if shutil.which("Rscript") is None:
        return None
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(root / MAN, work)
    files = sorted(work.glob("*.Rd"))
    script = work / "convert.R"
    script.write_text(CONVERT, encoding="utf-8")
    done = subprocess.run(["Rscript", "--vanilla", script, *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"R does not convert its help pages:\n{done.stdout}")
    known = {file.stem for file in files}
    out.mkdir(parents=True, exist_ok=True)
    rows: list[str] = []
    for file in files:
        title, inner = body(Path(f"{file}.html").read_text(encoding="utf-8"), known)
        (out / f"{file.stem}.md").write_text(f"# {file.stem}\n\n{title}.\n\n<div class=\"rd\">\n{inner}\n</div>\n", encoding="utf-8")
        rows.append(f"| [`{file.stem}`]({file.stem}.md) | {title} |")
    text = ["# R", "", "The help pages of the package, as `?consensus` shows them. How it all goes together: [R](../../docs/r.md).", "", "| page | what it is about |", "|---|---|", *rows, ""]
    (out / "index.md").write_text("\n".join(text), encoding="utf-8")
    return [file.stem for file in files]
