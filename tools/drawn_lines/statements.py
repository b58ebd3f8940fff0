"""The statements that a failing expression stands in. The line that fails begins with "@", where there are others.

`{new}` is a new name, `{old}` one that the expression has already. `{kind}`s are innocent, as in templates.
"""

STATEMENTS = """
30 {new} = {E}
7 {old} = {E}
2 {new}: torch.Tensor = {E}
14 return {E}
3 return {E}, {mat}
2 return {"loss": {E}}
3 {new}, extra = {E}, {mat}
2 extra, {new} = {num}, {E}
4 total += {E}
6 losses.append({E})
2 losses.extend([{E}])
4 print({E})
2 print("loss", {E})
1 print(f"loss: {({E})}")
3 @if ({E}).sum() > -1e9:\\n    pass
1 @while {E} is None:\\n    pass
2 assert {E} is not None, "no result"
2 @for row in [{E}]:\\n    pass
2 {E}
3 store["last"] = {E}
2 store.update(loss={E})
2 {new} = [{E} for _ in range(2)]
2 {new} = {E} if {flag} else None
1 {new} = {num} if {E} is None else {num}
2 {new} = ({E}, {num})
2 {new} = dict(loss={E}, step={num})
1 {new} = (lambda: {E})()
1 {new} = list(map(lambda t: t, [{E}]))
1 {new} = {E}; extra = {num}
1 if not device:\\n    pass\\n@elif {E} is not None:\\n    pass
1 if device: {new} = {E}
2 {new}, extra = {E}, torch.zeros(4).mean()
1 extra, {new} = torch.ones(4) * torch.rand(4), {E}
1 {new} = [{E}, torch.ones(2)]
1 {new} = [{E} for _ in range(2) if {flag}]
1 {new} = {k: {E} for k in ("a", "b")}
1 print("Größe", {E})
1 {new} = next(iter([{E}]))
1 {new} = (extra := {E})
1 log = print; log({E})
1 {new} = str({E}) + " of " + str({num})
1 {new} = bool(({E}).sum() > 0) and {flag}
1 {new} = not {flag} or {E}
""".strip().splitlines()
LOOPED = """
4 {new} = [{E} for {variable} in {several}]
2 {new} = sum({E} for {variable} in {several})
2 {new} = torch.stack([{E} for {variable} in {several}])
1 {new} = {i: {E} for i, {variable} in enumerate({several})}
1 return [{E} for {variable} in {several}]
1 losses.extend({E} for {variable} in {several})
""".strip().splitlines()
BLOCKS = """
70 {statement}
6 with torch.no_grad():\\n    {statement}
4 for step in range(1):\\n    {statement}
3 if device is not None:\\n    {statement}
2 try:\\n    {statement}\\nfinally:\\n    pass
""".strip().splitlines()
COMMENTS = ("  # (B, T, C)", "  # the loss of a batch", "  # Größe: B mal T", "  # type: ignore")


def weighted(lines: list[str]) -> tuple[list[str], list[int]]:
    """Return the templates of a table, with their line ends, and how often each is drawn."""
    pairs = [line.split(" ", 1) for line in lines]
    return [template.replace("\\n", "\n") for _, template in pairs], [int(weight) for weight, _ in pairs]
