"""End-to-end tests of the tool: run.py [path of shunt] [unittest options]."""

import os
import pathlib
import sys
import unittest

if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        os.environ["SHUNT_TOOL"] = os.path.abspath(sys.argv.pop(1))
    here = pathlib.Path(__file__).parent
    sys.path.insert(0, str(here))
    names = sorted(p.stem for p in here.glob("*_cases.py"))
    for name in names:
        globals().update({k: v for k, v in vars(__import__(name)).items() if isinstance(v, type)})
    unittest.main()
