// How a message stands in a log: what samedevice/doctor/text/standing.py is in Python.

const HEAD = 200; // characters left of the message that are looked at
const QUOTED = /(?:\bmatch ?= ?\(?|assertRaisesRegex\([\w.]{1,80}, ?|[Rr]egex: |[Pp]attern:? )[bfruBFRU]{0,2}["'][^"']{0,200}$/u;
// Of a test: its name, the line above its failure, and the reason why it was skipped or may fail.
const NAMED = new RegExp(
  String.raw`^(?:\[gw[0-9]{1,4}\] \[ ?[0-9]{1,3}%\] )?(?:PASSED|SKIPPED|XFAIL|XPASS)\b|^_{3,} |\.\.\. skipped ['"]` +
    String.raw`|\.py::(?:(?! - ).){0,200}$`,
  "u",
);
// A logger may write each line of a traceback, down to its last one: "ERROR - RuntimeError: ...".
const LOGGED = new RegExp(
  String.raw`\b(?:DEBUG|INFO|WARN|WARNING)\b|\b(?:ERROR|CRITICAL)\b(?![^A-Za-z]{0,9}[\w.]{1,80}(?:Error|Exception): )` +
    String.raw`|[Ww]arnings?\b`,
  "u",
);
const SOURCE = /\braise [\w.]{1,80}\([^"']{0,20}["'][^"']{0,200}$/u;
const CAPTURED = /^-{3,} Captured \w{1,20} \w{1,20} -{3,}$/u;
const ENDS = /^[A-Za-z_][\w.]{0,200}(?::|$)/u; // an error's own line below its traceback
export const SECTION = /^(?:_{3,} .{1,400} _{3,}|={3,} .{1,400} ={3,})$/u;

const near = (head) => [...head.slice(-2 * HEAD)].slice(-HEAD).join("");

/** Whether a message is only quoted, by what stands before it in its line. */
export const isQuoted = (head) => QUOTED.test(near(head)) || NAMED.test(near(head));

/** Whether a line of a program holds it, which it raises. */
export const isSource = (head) => SOURCE.test(near(head));

/** Whether a warning or a line of a logger or of a program holds it. */
export const isInPassing = (head) => LOGGED.test(near(head)) || isSource(head);

/** The numbers of the lines that pytest captured, and of those of errors that Python ignored. */
export function passedOver(lines) {
  const found = new Set();
  let isCaptured = false, margin = null; // characters before each line of an ignored error; null outside of one
  lines.forEach((line, number) => {
    if (CAPTURED.test(line)) isCaptured = true;
    else if (SECTION.test(line)) isCaptured = false;
    if (isCaptured || margin !== null) found.add(number);
    const ignored = line.search(/Exception ignored (?:in|while|on)/u);
    if (ignored >= 0) margin = ignored;
    else if (margin !== null && ENDS.test(line.slice(margin))) margin = null;
  });
  return found;
}
