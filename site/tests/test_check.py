"""Pages that are wrong are found, and pages that are right are not."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "build"))

import check
import links
import pages
from sessions import Tools

TOOLS = Tools(program=Path("/bin/echo"), python=Path(sys.executable))


def checked(text: str, update: bool = False) -> tuple[list[str], str]:
    """What is wrong with a page, and the page afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        page.write_text(text, encoding="utf-8")
        (Path(folder) / "work").mkdir()
        wrong = check.check(page, TOOLS, Path(folder) / "work" / "page", update)
        return wrong, page.read_text(encoding="utf-8")


class Outputs(unittest.TestCase):
    """What a page says is printed, beside what is."""

    def test_what_is_printed_is_accepted(self) -> None:
        page = "```console\n$ consilience a b\na b\n$ printf 'x\\ny\\n'\nx\ny\n```\n"
        self.assertEqual(checked(page), ([], page))

    def test_another_output_is_refused(self) -> None:
        wrong, _ = checked("```console\n$ echo 1\n2\n```\n")
        self.assertIn("page.md:2: $ echo 1 prints something else", wrong[0])

    def test_output_that_is_not_on_the_page_is_refused(self) -> None:
        self.assertTrue(checked("```console\n$ echo 1\n```\n")[0])
        self.assertTrue(checked("```console\n$ true\n1\n```\n")[0])

    def test_a_failure_must_be_told(self) -> None:
        self.assertTrue(checked("```console\n$ exit 3\n```\n")[0])
        self.assertFalse(checked("```console\n$ exit 3\n[exit code 3]\n```\n")[0])

    def test_a_hidden_command_must_not_fail(self) -> None:
        self.assertTrue(checked("<!-- run: exit 1 -->\n")[0])
        self.assertFalse(checked("<!-- run: echo anything -->\n")[0])

    def test_dots_stand_for_lines_but_not_for_any_output(self) -> None:
        self.assertFalse(checked("```console\n$ seq 4\n1\n...\n4\n```\n")[0])
        self.assertTrue(checked("```console\n$ seq 4\n1\n...\n5\n```\n")[0])

    def test_times_and_folders_do_not_count(self) -> None:
        self.assertFalse(checked("```console\n$ echo done in 1.23 s\ndone in 4 s\n$ pwd\nFOLDER\n```\n")[0])

    def test_a_command_goes_on_and_leaves_files(self) -> None:
        page = "```console\n$ cat > a.txt <<END\n> one\n> END\n$ cat a.txt\none\n```\n"
        self.assertEqual(checked(page)[0], [])

    def test_python_keeps_its_names_from_block_to_block(self) -> None:
        page = "```pycon\n>>> for i in range(2):\n...     print(i)\n...\n0\n1\n```\n\n```pycon\n>>> i\n1\n>>> 1 / 0\nZeroDivisionError: division by zero\n```\n"
        self.assertEqual(checked(page)[0], [])
        self.assertTrue(checked(page.replace(">>> i\n1", ">>> i\n2"))[0])

    def test_update_rewrites_what_differs_and_nothing_else(self) -> None:
        page = "# T\n\n```console\n$ echo 1\n2\n$ seq 3\n...\n```\n\nEnd\n"
        self.assertEqual(checked(page, update=True), ([], page.replace("2\n$", "1\n$")))

    def test_all_pages_are_read_and_written_alike(self) -> None:
        for path in check.sources():
            self.assertEqual(pages.read(path).text(), path.read_text(encoding="utf-8"), path)


class Links(unittest.TestCase):
    """Links of a site."""

    def found(self, html: str) -> list[str]:
        """What is wrong with a site of this page and another."""
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder).resolve()
            (site / "a.html").write_text(html, encoding="utf-8")
            (site / "b.html").write_text('<h2 id="there">B</h2>', encoding="utf-8")
            return links.broken(site)[1]

    def test_links_that_lead_somewhere(self) -> None:
        self.assertEqual(self.found('<p id="x"><a href="b.html#there"></a><a href="#x"></a><a href="https://example.org"></a>'), [])

    def test_links_that_lead_nowhere(self) -> None:
        for link in ("c.html", "b.html#here", "#y"):
            self.assertEqual(len(self.found(f'<a href="{link}"></a>')), 1, link)

    def test_markdown_that_was_not_read(self) -> None:
        self.assertEqual(len(self.found("<p>see [this](b.md)</p><pre>[x](y)</pre>")), 1)

    def test_nothing_is_loaded_from_elsewhere(self) -> None:
        self.assertEqual(len(self.found('<script src="https://example.org/a.js"></script><img src="//example.org/b.png">')), 2)


if __name__ == "__main__":
    unittest.main()
