#!/usr/bin/env python3
"""Checks the built site: check_links.py FOLDER. Every link to the site itself must lead to a page and to an anchor there, and no page
may load a script, a style, a font or an image from the network."""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("script", "img", "iframe") and attributes.get("src"):
            self.loaded.append(attributes["src"])
        if tag == "link" and attributes.get("rel") in ("stylesheet", "preload", "icon") and attributes.get("href"):
            self.loaded.append(attributes["href"])


def main(folder):
    root = pathlib.Path(folder).resolve()
    pages = {}
    for path in root.rglob("*.html"):
        pages[path] = page = Page()
        page.feed(path.read_text())
    faults = []
    for path, page in pages.items():
        name = path.relative_to(root)
        for target in page.loaded + page.links:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                if target in page.loaded and url.scheme != "data":
                    faults.append(f"{name}: loads {target}")
                continue
            file = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if file.is_dir():
                file = file / "index.html"
            if not file.exists():
                faults.append(f"{name}: {target} leads nowhere")
            elif url.fragment and file in pages and urllib.parse.unquote(url.fragment) not in pages[file].anchors:
                faults.append(f"{name}: {target} leads to no anchor")
    for fault in faults:
        print(f"tools/docs: {fault}", file=sys.stderr)
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
