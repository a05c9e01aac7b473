"""tools/readme_test.py runs what is marked, compares outputs, and fails where it should."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["SHUNT_SOURCE"], "tools")))
import readme_test  # noqa: E402


def test(text):
    shutil.rmtree("work", ignore_errors=True)
    os.mkdir("work")
    here = os.getcwd()
    os.chdir("work")
    try:
        return readme_test.test(text, None)
    except SystemExit as stop:
        return str(stop)
    finally:
        os.chdir(here)


DATA = "<!-- file: a.csv -->\n```\n1,2\n```\n"
RUN = "<!-- test: show -->\n```sh\ncat a.csv\necho took 12 ms\n```\n"
assert test("# Nothing\n```sh\nfalse\n```\n") == ([], [])
assert test(DATA + RUN + "<!-- output of show -->\n```\n1,2\ntook 3.5 ms\n```\n") == (["show"], ["show"])
assert test(DATA + RUN + "\n<!-- output of show -->\n\n```\n…\ntook …\n```\n") == (["show"], ["show"])
assert "prints something else" in test(DATA + RUN + "<!-- output of show -->\n```\n1,3\ntook 3 ms\n```\n")
assert "failed with 1" in test(RUN)
assert "no test of that name" in test("<!-- output of x -->\n```\n```\n")
assert "comments but" in test("<!-- test: a -->\nwords\n```sh\ntrue\n```\n")
assert "cannot test" in test("<!-- test: a -->\n```rust\n```\n")

CARD = "<!-- test on a card: show -->\n```sh\necho 1\n```\n<!-- output of show -->\n```\n1\n```\n"
for needed, ran in (("", []), ("1", ["show"])):
    os.environ["SHUNT_NEED_GPU"] = needed
    assert test(CARD) == (ran, ran)

program = readme_test.whole_program("#include <vector>\nusing namespace std;\nvector<int> v;\n")
assert program.endswith("#include <vector>\nusing namespace std;\nint main() {\nvector<int> v;\n}\n")
assert readme_test.whole_program("int main() {}\n") == "int main() {}\n"
