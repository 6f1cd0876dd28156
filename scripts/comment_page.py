# ruff: noqa: INP001 - a script, not a package
"""Turn a comment's Markdown into a page that looks much as GitHub would show it."""

import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt

_STYLE = """
body{font:16px/1.5 -apple-system,"Segoe UI",Helvetica,Arial,sans-serif;color:#1f2328;
max-width:860px;margin:24px auto;padding:0 20px}
table{border-collapse:collapse;margin:0 0 16px}th,td{border:1px solid #d1d9e0;padding:6px 13px}
tr:nth-child(2n){background:#f6f8fa}
code{background:#818b981f;padding:.2em .4em;border-radius:6px;font:85% ui-monospace,monospace}
pre{background:#f6f8fa;padding:16px;border-radius:6px;overflow:auto}
pre code{background:none;padding:0}summary{cursor:pointer}details{margin-bottom:16px}
"""


def main() -> None:
    """Read the Markdown named first, write the page named second, with a Mermaid script third."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    html = html.replace("<details>", "<details open>")
    script = ""
    mermaid = sys.argv[3] if len(sys.argv) > 3 else ""
    if mermaid:
        html = re.sub(
            r'<pre><code class="language-mermaid">(.*?)</code></pre>',
            r'<pre class="mermaid">\1</pre>',
            html,
            flags=re.DOTALL,
        )
        source = Path(mermaid).read_text(encoding="utf-8")
        script = (
            f"<script>{source}</script><script>mermaid.initialize({{startOnLoad:true}})</script>"
        )
    page = f"<!doctype html><meta charset=utf-8><style>{_STYLE}</style>{html}{script}"
    Path(sys.argv[2]).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
