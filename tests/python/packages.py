"""Which packages a test can import."""
import importlib.util


def installed(test, *names):
    """Those of these packages that are there. The others are skipped, each by its name."""
    there = [name for name in names if importlib.util.find_spec(name)]
    for name in names:
        if name not in there:
            with test.subTest(package=name):
                test.skipTest(f"there is no {name} in this environment")
    return there
