// The error that comes last in a log: what samedevice/doctor/text/last_error.py is in Python.

import { first } from "./normalise.js";

const TRACEBACK = /^(?<margin>.{0,200}?)Traceback \(most recent call last\)/u;
const OF_IPYTHON = /^[A-Za-z_]\w{0,80} {2,}$/u;
const NAME = /^[A-Za-z_][\w.]{0,200}(?:: |:?$)/u;
const OF_A_LAUNCHER = /^[\w.]{0,200}(?:ChildFailedError|CalledProcessError|ProcessRaisedException|SystemExit)\b/u;
const DEATH = new RegExp(
  String.raw`^(?:.{0,200}?: line [0-9]{1,7}: {1,9}[0-9]{1,9} )?` +
    String.raw`(?<shell>Killed|Aborted|Bus error|Illegal instruction|Segmentation fault)(?: {2}| \(core dumped\)|$)` +
    String.raw`|(?<said>Fatal Python error: .{1,200}|Signal (?:4|6|7|8|9|11) \(SIG[A-Z]{2,4}\) received by PID [0-9]{1,9}` +
    String.raw`|terminate called after throwing .{1,200}|Detected [0-9]{1,6} oom[_\-]kill event.{0,80}` +
    String.raw`|CANCELLED AT .{1,80} DUE TO .{1,40}|Watchdog caught collective operation timeout)`,
  "u",
);
// Tests fail one by one, each by itself.
const TESTS = new RegExp(
  String.raw`^={3,} (?:FAILURES|ERRORS|short test summary info|[0-9]{1,9} (?:passed|failed)\b.*) ={3,}$` +
    String.raw`|^Ran [0-9]{1,9} tests? in `,
  "u",
);

/** The line of the error that comes last from the line `start` on, or ""; some lines are ignored. */
export function lastError(lines, start, ignored) {
  const isOfTests = lines.slice(start).some((line) => TESTS.test(line));
  let found = "", margin = null; // what stands before each line of a traceback; null outside of one
  for (let number = start; number < lines.length; number++) {
    const line = lines[number], header = TRACEBACK.exec(line)?.groups;
    if (ignored.has(number)) continue;
    const text = header || margin === null ? "" : below(margin, line);
    if (header) {
      const isSame = number > start && lines[number - 1].includes("The above exception was the direct cause");
      margin = isSame || isOfTests ? null : header.margin;
    } else if (text) [found, margin] = [OF_A_LAUNCHER.test(text) ? found : text, null];
    else {
      const death = DEATH.exec(line)?.groups;
      found = death?.shell ?? death?.said ?? found;
    }
  }
  return first(120, found).trim();
}

/** An error's own line, which stands below its traceback and behind the same margin; "" for any other. */
function below(margin, line) {
  if (OF_IPYTHON.test(margin)) return line.startsWith(`${margin.trim()}:`) ? line : "";
  const text = line.slice(margin.length), digits = (part) => part.replace(/[0-9]/gu, "0");
  return digits(line.slice(0, margin.length)) === digits(margin) && NAME.test(text) ? text : "";
}
