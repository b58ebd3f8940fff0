"""The doctor of the paste box is joined whole: an import that cannot be joined ends the build."""

import pytest

from site_build.joined_doctor import joined

LINES = "export const lines = 1;\n"
ENTRY = 'import { lines } from "./doctor/lines.js";\nexport const all = lines;\n'


def test_a_module_is_in_the_text_and_its_import_is_not():
    text = joined(ENTRY, {"lines": LINES})
    assert "const lines = 1;" in text
    assert "doctor/lines.js" not in text


@pytest.mark.parametrize(
    "broken",
    [
        'import {\n  lines,\n} from "./doctor/lines.js";\n',
        'import {lines} from "./doctor/lines.js";\n',
        'import * as all from "./doctor/lines.js";\n',
        'export { lines } from "./doctor/lines.js";\n',
        'import { lines } from "./doctor/lines.js"; // why\n',
    ],
)
def test_an_import_in_another_form_is_an_error_that_says_how_to_write_it(broken):
    with pytest.raises(ValueError, match=r"imports doctor/lines\.js .* Write it in one line: import \{ name \} from"):
        joined(broken, {"lines": LINES})


def test_an_import_in_a_module_is_looked_at_too():
    modules = {"lines": LINES, "answer": 'import {\n  lines,\n} from "./lines.js";\nexport const answer = lines;\n'}
    with pytest.raises(ValueError, match=r"imports lines\.js"):
        joined('import { answer } from "./doctor/answer.js";\n', modules)
