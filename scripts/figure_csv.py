"""Reads a study's report.csv as its report.json, as far as figures need it. Figures of learning are not in it."""
import csv

COUNTS = ("workers", "servers", "runs", "failed", "limited")
WORDS = ("strategy", "transport")
FLAGS = ("colocated", "takes_part")


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def condition(key, text):
    """The value in words: "30 ms of compute", "model profile:vgg16"."""
    name = key.replace("_", " ")
    if key.endswith("_ms") and number(text) is not None:
        return f"{number(text):g} ms of {name[:-3]}"
    return f"{name} {text}"


def family(row):
    if row["servers"] != "0":
        return "parameter server"
    return "none" if row["strategy"] == "none" else "ring"


def cell_of(row, varied, names, emulated):
    """`varied` has the values of the keys that the study varies."""
    cell = {name: int(row[name]) for name in COUNTS} | {name: row[name] for name in WORDS} | {name: row[name] == "true" for name in FLAGS}
    cell |= {"family": family(row), "emulated_compute": emulated, "intervals": {}}
    cell |= {"varied": varied, "conditions": {key: condition(key, value) for key, value in varied.items()}}
    for name in names:
        cell[name] = number(row[name])
        if row[f"{name}_low"]:
            cell["intervals"][name] = {"low": float(row[f"{name}_low"]), "high": float(row[f"{name}_high"])}
    return cell


def report_of(path):
    """The report of a report.csv. The spec beside it says whether compute was emulated: by profile models."""
    with open(path, newline="", encoding="utf-8") as file:
        columns, *rows = csv.reader(file)
    # The columns before the strategy are keys. One of them, such as compute_ms, may have the name of a number behind it.
    first = columns.index("strategy")
    varied = columns[1:first]
    names = [name[:-len("_low")] for name in columns if name.endswith("_low")]
    spec = path.with_name("spec.yaml")
    emulated = spec.exists() and "profile:" in spec.read_text(encoding="utf-8")
    cells = [cell_of(dict(zip(columns[first:], row[first:])), dict(zip(varied, row[1:first])), names, emulated) for row in rows]
    return {"varied": varied, "cells": cells}
