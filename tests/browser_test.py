#!/usr/bin/env python3
"""Pages in a real browser (Chromium without a window), on a phone and a desktop, light and dark.  browser_test.py PROGRAM [SITE]

A report, and the pages of the site where it has been built, fit the width of the window, load every image, take nothing from the
network, and turn dark when the reader wants that."""
import html, json, os, pathlib, re, shutil, subprocess, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PROGRAM = SITE = None
# Each page measures itself and tells the page around it.
PROBE = """<script>addEventListener("load", () => setTimeout(() => {
  const body = getComputedStyle(document.body), root = document.documentElement;
  const wide = [...document.querySelectorAll("body *")].filter(e => {
    if (e.parentElement.closest("svg") || e.closest(".wide, pre, .math-block, table, math, .sidebar-drawer, .toc-drawer, .highlight, .visually-hidden, .skip-to-content")) return false;
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.right > root.clientWidth + 1;
  }).map(e => e.tagName + "." + e.className);
  parent.postMessage(JSON.stringify({width: root.clientWidth, scroll: root.scrollWidth, wide: wide.slice(0, 5), text: body.color,
    ground: body.backgroundColor, images: document.images.length, math: document.querySelectorAll("math").length,
    broken: [...document.images].filter(i => !i.complete || i.naturalWidth === 0).map(i => i.src.slice(0, 60))}), "*");
}, 200));</script>"""
FRAME = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><iframe id="page" src="{source}" style="width:{width}px;height:900px;border:0;color-scheme:{scheme}">
</iframe><pre id="out"></pre><script>addEventListener("message", m => document.getElementById("out").textContent = "RESULT" + m.data)</script>"""


def brightness(colour):
    numbers = list(map(float, re.findall(r"[\d.]+", colour)))
    return sum(numbers[:3]) / 3 if len(numbers) < 4 or numbers[3] > 0 else 255.0


class Browser(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def measure(self, page, width, scheme):
        """What a page says of itself at a width; the page is a file in a folder with all that it needs."""
        probed = page.with_name(f"probe-{page.name}")
        probed.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
        frame = page.with_name("frame.html")
        frame.write_text(FRAME.format(source=probed.name, width=width, scheme=scheme))
        setting = {"dark": 0, "light": 1}[scheme]
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                               f"--user-data-dir={self.here / 'profile'}", "--allow-file-access-from-files",
                               f"--blink-settings=preferredColorScheme={setting}", "--window-size=1600,1000",
                               "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=8000", "--dump-dom", frame.as_uri()],
                              capture_output=True, text=True, timeout=120)
        probed.unlink()
        frame.unlink()
        found = re.search(r"RESULT(\{.*?\})</pre>", html.unescape(done.stdout), re.S)
        self.assertIsNotNone(found, f"{page.name} does not load: {done.stderr[-400:]}")
        return json.loads(found[1])

    def check(self, page, images=None, math=None):
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                with self.subTest(f"{page.name}, {width} pixels, {scheme}"):
                    found = self.measure(page, width, scheme)
                    self.assertEqual(found["width"], width)
                    self.assertLessEqual(found["scroll"], width, f"wider than the window: {found['wide']}")
                    self.assertEqual(found["broken"], [])
                    if images is not None:
                        self.assertEqual(found["images"], images)
                    if math is not None:
                        self.assertGreaterEqual(found["math"], math)
                    dark = brightness(found["ground"]) < 100 < brightness(found["text"])
                    light = brightness(found["text"]) < 100 < brightness(found["ground"])
                    self.assertTrue(dark if scheme == "dark" else light, f"{found['text']} on {found['ground']}")

    def test_report(self):
        study = ROOT / "examples/chaotic.toml"
        for name, end in (("a", "30.0"), ("b", "20.0")):
            subprocess.run([PROGRAM, "run", study, "-o", self.here / f"{name}.h5", "--quiet", "--set", f"time.end={end}", "--set",
                            "ensemble.axes[0].count=300"], check=True)
        page = self.here / "report.html"
        subprocess.run([PROGRAM, "report", "a.h5", "b.h5", "-o", page, "--quiet", "--figures", "3"], check=True, cwd=self.here)
        self.check(page, images=6)

    def test_site(self):
        if SITE is None or not SITE.exists():
            self.skipTest("skipped: the site has not been built (tools/docs)")
        for name in ("docs/index.html", "docs/theory/lobatto.html", "docs/learn/first-study.html", "docs/learn/notebook-own-system.html", "docs/reference/methods.html",
                     "examples/papers/brugnano2018/README.html"):
            self.check(SITE / name, math=10 if "theory" in name else 0)


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: there is no chromium (apt install chromium)")
        sys.exit(0)
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    SITE = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
    unittest.main()
