// One line of Python that prints where the candidates are: what samedevice/doctor/text/tell.py is in Python.

/**
 * The line that prints the device of each culprit, or "" where there is nothing to choose. Some are `modules`, which may
 * hold no tensor, and some often `numbers`, which have no device.
 */
export const tell = (culprits, modules, numbers) =>
  culprits.length < 2 ? "" : `print(${culprits.map(({ expression }) => device(expression, modules, numbers)).join(", ")})`;

/** What tells the device: a module has none itself, so those of its tensors. */
function device(expression, modules, numbers) {
  let text = expression.split("\n").map((line) => line.trim()).join(" ");
  if (numbers.includes(expression)) return `getattr(${text}, "device", "a number")`;
  if (!isOneValue(text)) text = `(${text})`;
  return modules.includes(expression) ? `{t.device for t in ${text}.state_dict().values()}` : `${text}.device`;
}

/** Whether `.device` behind an expression belongs to all of it: not to the `b` of `a + b`. */
function isOneValue(expression) {
  let outside = "", depth = 0;
  for (const sign of expression) {
    depth += "([{".includes(sign) - ")]}".includes(sign);
    if (depth === 0 && !")]}".includes(sign)) outside += sign;
  }
  return /^[A-Za-z_][\w.]*$/u.test(outside);
}
