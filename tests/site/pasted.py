# ruff: noqa: RUF001
"""Errors as people paste them, for the tests of the paste box and of its twin in Python."""

MESSAGE = (
    "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors "
    "on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
)
OLD = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! "
    "(when checking argument for argument index in method wrapper_CUDA__index_select)"
)
BARE = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
NUMPY = (
    "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
    "first."
)
TRACEBACK = f"""Traceback (most recent call last):
  File "/srv/study/train.py", line 31, in main
    logits = model(batch)
             ^^^^^^^^^^^^
  File "/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
{MESSAGE}"""
MARKUP = """Traceback (most recent call last):
  File "<img src=x onerror=ran=1>/<a href='javascript:ran=1'>", line 3, in <script>ran=1</script>
    <svg onload=ran=1>`</code><b>`{device}
"""


def broken_at(width, text):
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


def in_a_box(text):
    lines = [text[start : start + 76] for start in range(0, len(text), 76)]
    return "\n".join(["╭" + "─" * 78 + "╮", *(f"│ {line:<76} │" for line in lines), "╰" + "─" * 78 + "╯"])


AWKWARD = {
    "nothing": "",
    "blanks of every kind": " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000",
    "what JavaScript takes for a blank and Python does not": "\ufeff",
    "what it is not about": "Traceback (most recent call last):\nKeyError: 'cuda:0'",
    "out of memory": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "out of memory, then a message": f"CUDA out of memory. Tried to allocate 2.00 GiB.\n{MESSAGE}",
    "a message, then out of memory": f"{MESSAGE}\nCUDA out of memory. Tried to allocate 2.00 GiB.",
    "a traceback": TRACEBACK,
    "a traceback of Windows": TRACEBACK.replace("/srv/study/", "C:\\Users\\you\\").replace("\n", "\r\n"),
    "old line ends": TRACEBACK.replace("\n", "\r"),
    "line ends written out": TRACEBACK.replace("\n", "\\n"),
    "line separators of Unicode": TRACEBACK.replace("\n", "\u2028"),
    "wrapped between words": broken_at(80, TRACEBACK),
    "wrapped inside words": broken_at(23, MESSAGE),
    "a letter a line": broken_at(1, MESSAGE),
    "in a box of rich": in_a_box(TRACEBACK.replace("\n", " ")),
    "as rich prints it": f"│ /srv/run/train.py:31 in main   │\n│ ❱ 31 │   logits = model(batch)   │\n╰───╯\n{MESSAGE}",
    "in colours": f"\x1b[1;31mTraceback\x1b[0m\n\x1b]8;;file:///a\x07a\x1b]8;;\x07\n\x1b[38;5;196m{MESSAGE}\x1b[0m",
    "in colours whose escape was lost": f"[1;31m{MESSAGE}[0m",
    "a cell of IPython": f"Cell In[3], line 4, in f(x)\n      2 def f(x):\n----> 4     return model(x)\n\n{MESSAGE}",
    "a file in IPython": f"File ~/a/train.py:12, in f(n)\n     11 x = 1\n---> 12 y = f(x)\n     13 z = 2\n\n{OLD}",
    "old IPython": f"<ipython-input-3-6344c9> in <module>\n----> 1 f(x)\n\n~/a/b.py in f(self, x)\n----> 5 g(x)\n{OLD}",
    "pytest": f"    def test_a():\n>       f(x)\n\ntest_a.py:4: \n_ _ _\nE       {MESSAGE}\n\ntrain.py:16: Error",
    "without the error's name, in a line of its own": f"Hello,\n{MESSAGE.removeprefix('RuntimeError: ')}\nEverywhere.",
    "a chain": f"{TRACEBACK}\n\nThe above exception was the direct cause of the following exception:\n\n{TRACEBACK}",
    "another after it": f'{TRACEBACK}\n\nTraceback (most recent call last):\n  File "b.py", line 1, in f\n    g()',
    "the wrapper of a replica only": "RuntimeError: Caught RuntimeError in replica 0 on device 0.",
    "the wrapper of a replica": f"RuntimeError: Caught RuntimeError in replica 1 on device 1.\nOriginal {TRACEBACK}",
    "prefixes of ranks": "\n".join(f"[rank3]: {line}" for line in TRACEBACK.splitlines()),
    "a quotation": "\n".join(f"> {line}" for line in TRACEBACK.splitlines()),
    "entities of HTML": TRACEBACK.replace("'", "&#39;")
    .replace('"', "&quot;")
    .replace("<", "&lt;")
    .replace(" ", "&nbsp;"),
    "Chinese around it": f"我在运行代码时出现了以下错误：{MESSAGE}，请问怎么解决？",
    "Japanese around it": f"実行すると次のエラーが出ます。「{OLD}」どうすればよいですか。",
    "Korean around it": f"실행하면 다음 오류가 발생합니다:{BARE}어떻게 해결하나요?",
    "Chinese signs in it": MESSAGE.replace(",", "，").replace(":", "：").replace("(", "（").replace(")", "）"),
    "typographic quotes": NUMPY.replace("'", "\u2019"),
    "names in other scripts": TRACEBACK.replace("main", "训练").replace("train.py", "обучение.py"),
    "blanks that do not break": MESSAGE.replace(" ", "\xa0"),
    "characters beyond 16 bits": f"😀𝔘𝔫𝔦{'🔥' * 3000}\n{TRACEBACK.replace('batch', '𝔟𝔞𝔱𝔠𝔥' * 300)}",
    "invisible characters": "\u200b".join(MESSAGE.split(" ")).replace("\u200b", " \u200b"),
    "two messages": f"{OLD}\n{NUMPY}",
    "two messages in a line": f"{NUMPY} {OLD} {BARE}",
    "markup": MARKUP + BARE,
    "names that objects have": MESSAGE.replace("mat1", "constructor").replace("addmm", "__proto__"),
    "a long line": "x" * 100_000 + MESSAGE + "y" * 50_000,
    "many messages": f"{BARE}\n" * 1_000,
    "more than is read": f"{NUMPY}\n" + "step 1: loss 0.5\n" * 30_000 + TRACEBACK,
}
