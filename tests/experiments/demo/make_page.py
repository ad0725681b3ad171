#!/usr/bin/env python3
"""Makes the demo's page from a JSON file, as `ringside demo` does: bundles it with esbuild and fills the template.

usage: make_page.py DATA.json OUT.html [--title TITLE]
"""
import argparse
import base64
import hashlib
import html
import json
import pathlib
import re
import subprocess

PAGE = pathlib.Path(__file__).resolve().parents[3] / "experiments" / "demo" / "page"
FLAGS = ["--log-level=warning", "--minify", "--charset=ascii"]


def esbuild(*arguments):
    return subprocess.run(["esbuild", *map(str, arguments), *FLAGS], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def safe(text):
    """JSON that cannot end its script element."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def fill(data, title):
    """The page for a JSON text."""
    script = esbuild(PAGE / "main.js", "--bundle", "--format=iife", "--target=es2020")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {"policy": f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'",
             "title": html.escape(title), "style": esbuild(PAGE / "page.css"), "data": safe(data), "script": script}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], (PAGE / "page.html").read_text(encoding="utf-8"))


def make_page(data, path, title="ring and ps-sync side by side"):
    text = data if isinstance(data, str) else json.dumps(data)
    path.write_text(fill(text, title), encoding="utf-8")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--title", default="ring and ps-sync side by side")
    options = parser.parse_args()
    make_page(options.data.read_text(encoding="utf-8"), options.out, options.title)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
