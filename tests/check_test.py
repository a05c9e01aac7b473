"""tools/check.py finds each kind of fault in a tree made for it, and nothing in a sound one."""
import os
import pathlib
import shutil
import sys

source = pathlib.Path(os.environ["SHUNT_SOURCE"])
sys.path.insert(0, str(source / "tools"))
import check  # noqa: E402

GOOD = {
    "include/shunt/a.hpp": "// A.\n#pragma once\n#include <vector>\n\n#include \"shunt/b.hpp\"\n",
    "include/shunt/b.hpp": "// B.\n#pragma once\n",
    "include/shunt/d.h": "// D.\n#pragma once\n#include <stdint.h>\n",
    "src/core/c.hpp": "// C.\n#pragma once\n",
    "src/core/c.cpp": "// C.\n#include \"core/c.hpp\"\n\n#include <xxhash.h>\n\n#include \"shunt/a.hpp\"\n",
    "src/cpu/dnnl.cpp": "// D.\n#include <oneapi/dnnl/dnnl.hpp>\n\n#include \"core/c.hpp\"\n",
    "cli/main.cpp": "// M.\n#include <unistd.h>\n\n#include <CLI/CLI.hpp>\n",
    "tests/t.cpp": "// T.\n#include \"core/c.hpp\"\n",
    "tools/x.sh": "#!/bin/sh\n# X.\n",
}
BAD = {  # file → text, line, part of the message
    "include/shunt/p.hpp": ("// P.\n#include <unistd.h>\n", 2, "public may not include unistd.h"),
    "include/shunt/q.hpp": ("// Q.\n#include \"core/c.hpp\"\n", 2, "public may not include core/c.hpp"),
    "src/core/up.cpp": ("// U.\n\n#include \"net/n.hpp\"\n", 3, "core may not include net/n.hpp"),
    "src/net/n.hpp": ("// N.\n#include <oneapi/dnnl/dnnl.hpp>\n", 2, "only src/cpu/dnnl*.cpp"),
    "src/cpu/fast.cpp": ("// F.\n#include \"oneapi/dnnl/dnnl.hpp\"\n", 2, "cpu may not include"),
    "src/cpu/l.cpp": ("// L.\nnamespace {\nSHUNT_CLONES void a() {}\n}  // namespace\n\nSHUNT_CLONES void b() {}\n", 6, "clang 14"),
    "src/model/m.cpp": ("// M.\n#include <zip.h>\n", 2, "model may not include zip.h"),
    "src/data/d.cpp": ("// D.\n#include <png.h>\n", 2, "data may not include png.h (not known)"),
    "src/backend.cpp": ("// B.\n#include \"net/n.hpp\"\n", 2, "backend.cpp may not include"),
    "src/other/o.cpp": ("// O.\n#include <vector>\n", 2, "no part that"),
    "cli/c.cpp": ("// C.\n#include \"core/c.hpp\"\n", 2, "cli may not include core/c.hpp"),
    "examples/long.cpp": ("// L.\n" + "\n" * 499, 500, "500 lines"),
    "examples/first.cpp": ("#include <vector>\n", 1, "does not begin with a comment"),
    "examples/first.c": ("int main(void) { return 0; }\n", 1, "does not begin with a comment"),
    "examples/todo.cpp": ("// F.\n// TO" "DO: the rest\n", 2, "unfinished"),
    "examples/tab.cpp": ("// T.\n\tint x;\n", 2, "a tab"),
    "examples/space.cpp": ("// S. \n", 1, "white space"),
    "examples/end.cpp": ("// E.", 1, "no newline"),
    "examples/layout.cpp": ("// L.\nint   x  = 1 ;\n", 2, "clang-format"),
    "tools/y.py": ("import os\n", 1, "does not begin with a comment"),
}


def plant(tree):
    root = pathlib.Path("tree")
    shutil.rmtree(root, ignore_errors=True)
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    shutil.copy(source / ".clang-format", root)
    return root


found, n = check.check(plant(GOOD))
assert found == [] and n == 8, found

found, _ = check.check(plant(GOOD | {name: text for name, (text, _, _) in BAD.items()}))
for name, (_, line, message) in BAD.items():
    assert any(f.startswith(f"{name}:{line}: ") and message in f for f in found), f"{name} not caught in:\n" + "\n".join(found)
strangers = [f for f in found if f.split(":")[0] not in BAD]
assert not strangers, strangers
print(f"{len(BAD)} faults caught")
