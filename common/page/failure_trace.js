// failure_trace.js -- the traces of a run: the events read from the tracer beside
// those expected ("traces" of "profsim failure").
const traces = data.traces || [];

// An expected event is [type, processor, task, argument, tick, latest tick,
// event of the scenario, stack]; a found one has, in the place of the last tick and
// the event, its sequence number and its offset in the file.
const task = (g) => g ? "t" + g : "nobody";
const meanings = {
  Gomaxprocs: (e) => plural(e[3], "processor"),
  ProcStart: (e) => `thread ${e[3]} takes the processor`,
  ProcStop: () => "the thread leaves the processor",
  GoCreate: (e) => e[2] ? `${task(e[2])} creates ${task(e[3])}` : `${task(e[3])} is created`,
  GoStart: (e) => `${task(e[3])} begins to run`,
  GoEnd: (e) => `${task(e[2])} ends`,
  GoStop: (e) => `${task(e[2])} stops for ever`,
  GoSched: (e) => `${task(e[2])} lets others run`,
  GoPreempt: (e) => `${task(e[2])} is made to let others run`,
  GoSleep: (e) => `${task(e[2])} sleeps`,
  GoUnblock: (e) => e[2] ? `${task(e[2])} wakes ${task(e[3])}` : `${task(e[3])} is woken`,
  GoSysCall: (e) => `${task(e[2])} calls the system`,
  GoSysExit: (e) => `${task(e[3])} has returned from the system`,
  GoSysBlock: (e) => `the call of ${task(e[2])} gives the processor away`,
  GoWaiting: (e) => `${task(e[2])} was waiting when tracing started`,
  GoInSyscall: (e) => `${task(e[2])} was in a system call when tracing started`,
  HeapAlloc: (e) => `${number(e[3])} bytes in use`,
  NextGC: (e) => `next collection at ${number(e[3])} bytes`,
  GCStart: () => "a collection starts",
  GCDone: () => "marking is done",
  FutileWakeup: (e) => `the wake-up of ${task(e[2])} led to nothing`,
};
const meaning = (e) => meanings[e[0]] ? meanings[e[0]](e)
    : e[0].startsWith("GoBlock") ? `${task(e[2])} waits` : e[3] ? String(e[3]) : "";

const sameFact = (w, f) => w[0] === f[0] && w[1] === f[1] && w[2] === f[2] && w[3] === f[3];
const ticksAgree = (w, f) => f[4] >= w[4] && f[4] <= w[5];
const stacksAgree = (w, f, session) => w[7] === f[7] || (f[7] === "" && session.without_stack > 0);

// Pairs [expected or null, found or null] in order: first equal beginnings and ends,
// then what is between by a longest common subsequence, unless it is too long.
function pairUp(expected, found) {
  const pairs = [], tail = [];
  let a = 0, b = expected.length, c = found.length;
  while (a < b && a < c && sameFact(expected[a], found[a])) pairs.push([expected[a], found[a++]]);
  while (b > a && c > a && sameFact(expected[b - 1], found[c - 1])) tail.unshift([expected[--b], found[--c]]);
  const rows = b - a, cols = c - a;
  if (rows * cols > 4e6)
    return pairs.concat(expected.slice(a, b).map((e) => [e, null]), found.slice(a, c).map((f) => [null, f]), tail);
  const longest = Array.from({length: rows + 1}, () => new Uint16Array(cols + 1));
  for (let i = rows - 1; i >= 0; i--)
    for (let j = cols - 1; j >= 0; j--)
      longest[i][j] = sameFact(expected[a + i], found[a + j]) ? longest[i + 1][j + 1] + 1
          : Math.max(longest[i + 1][j], longest[i][j + 1]);
  let i = 0, j = 0;
  while (i < rows || j < cols) {
    if (i < rows && j < cols && sameFact(expected[a + i], found[a + j])) pairs.push([expected[a + i++], found[a + j++]]);
    else if (j === cols || (i < rows && longest[i + 1][j] >= longest[i][j + 1])) pairs.push([expected[a + i++], null]);
    else pairs.push([null, found[a + j++]]);
  }
  return pairs.concat(tail);
}

const hasTraceTicks = traces.some((s) => s.expected.concat(s.found).some((e) => e[4] !== s.expected[0][4]));
const hasTraceStacks = traces.some((s) => s.expected.concat(s.found).some((e) => e[7] !== ""));

// Each session's rows. A found event that was not expected is shown with the
// previous event of the scenario.
for (const session of traces) {
  let n = 0;
  session.lines = pairUp(session.expected, session.found).map(([want, got]) => {
    n = want ? want[6] : n;
    const good = want && got && ticksAgree(want, got) && stacksAgree(want, got, session);
    return {want, got, n, good};
  });
  const [least, most, said] = session.ticks_per_second;
  session.says = [
    session.found_count !== session.expected_count && `it holds ${plural(session.found_count, "event")}, it must hold ${number(session.expected_count)}`,
    session.expected_count > session.expected.length && `only the first ${number(session.expected.length)} of ${number(session.expected_count)} events are compared here`,
    session.dropped > 0 && plural(session.dropped, "event") + " dropped for want of a buffer: the list ends there",
    session.reason && `reading it gives "${session.verdict}": ${session.reason}`,
    session.read && (said < least || said > most) && `its frequency is ${number(said)} ticks a second, it must be ${number(most)}`,
    !session.stopped && "tracing was never stopped",
    session.stopped && !session.read && "it was not read to its end",
  ].filter(Boolean);
}

// The event of the scenario at which a trace first differs; 0: none does.
function firstTraceDifference() {
  for (const session of traces) {
    const row = session.stopped && session.lines.find((r) => !r.good);
    if (row) return Math.max(1, row.n);
  }
  return 0;
}

function traceRow(row, n, session, elsewhere) {
  const {want, got} = row;
  const lines = [];
  const cellsOf = (sign, e, wrongTick, wrongStack, note) => el("tr", {
    class: (row.n === n ? "here" : row.n > n ? "later" : "") + (sign === " " ? "" : " differs"),
    "data-trace": row.n, click: () => { const i = events.findIndex((v) => v.n >= row.n); show(i < 0 ? events.length - 1 : i); },
  }, el("td", {class: sign === " " ? "soft" : "wrong"}, sign), el("td", {class: "number soft"}, !row.want ? "" : row.n > events[events.length - 1].n ? "end" : row.n || ""),
      el("td", {class: "number soft"}, e === got ? number(e[5]) : ""),
      el("td", {}, e[0]), el("td", {}, e[1] < 0 ? "none" : "p" + e[1]), el("td", {}, meaning(e), note && el("b", {class: "wrong"}, "  " + note)),
      hasTraceTicks && el("td", {class: "number" + (wrongTick ? " wrong" : "")}, e === got ? number(e[4]) : e[4] === e[5] ? number(e[4]) : number(e[4]) + ".." + number(e[5])),
      hasTraceStacks && el("td", {class: wrongStack ? "wrong" : ""}, e[7]));
  if (row.good) return [cellsOf(" ", got)];
  if (want && got) {
    const tick = !ticksAgree(want, got), stack = !stacksAgree(want, got, session);
    return [cellsOf("\u2212", want, tick, stack), cellsOf("+", got, tick, stack)];
  }
  const other = elsewhere(row);
  lines.push(want ? cellsOf("\u2212", want, false, false, other ? "comes " + other : "is missing")
      : cellsOf("+", got, false, false, other ? "belongs " + other : "must not be"));
  return lines;
}

// Names the numbers of a record (docs/trace-format.md).
function recordNumbers([, type, ...numbers]) {
  const names = type === "Batch" ? ["processor", "sequence", "ticks"] : type === "Frequency" ? ["ticks a second"]
      : type === "Stack" ? ["stack", "frames"] : type === "TimerGoroutine" ? ["task"] : ["sequence +", "ticks +"];
  return numbers.map((n, i) => i < names.length ? names[i] + (names[i].endsWith("+") ? "" : " ") + n : n).join(", ");
}

function recordsTable(session) {
  const starts = new Set([0, ...session.parts]);
  return el("details", {}, el("summary", {class: "soft"}, `The file, record by record (${number(session.bytes)} bytes)`),
      el("div", {class: "panel scroll"}, el("table", {class: "grid"}, el("thead", {}, el("tr", {}, el("th", {class: "number"}, "offset"), el("th", {}, "record"), el("th", {}, "numbers"))),
          el("tbody", {}, session.records.map((r) => el("tr", {}, el("td", {class: "number"}, r[0]), el("td", {}, r[1]),
              el("td", {}, recordNumbers(r), starts.has(r[0]) && el("span", {class: "soft"}, "  a part for the reader begins"))))))));
}

function traceTables(n) {
  return traces.map((session) => {
    const rows = session.lines;
    const differ = rows.filter((r) => !r.good).length;
    // Of a long list, show only rows near the event.
    const near = rows.length > 300 ? Math.max(0, rows.findIndex((r) => r.n >= n)) : 0;
    const from = rows.length > 300 ? Math.max(0, near - 100) : 0;
    const to = rows.length > 300 ? from + 200 : rows.length;
    const place = new Map(rows.map((r, i) => [r, i]));
    const elsewhere = (row) => {
      const other = rows.find((r) => r !== row && (row.want ? !r.want && sameFact(row.want, r.got) : !r.got && sameFact(r.want, row.got)));
      if (!other) return null;
      const by = place.get(other) - place.get(row);
      return plural(Math.abs(by), "line") + (by > 0 ? " later" : " earlier");
    };
    return [el("h3", {}, "The trace", traces.length > 1 ? " of session " + session.session : ""),
      el("div", {class: "legend"}, !session.stopped ? "" : differ ? el("b", {class: "verdict bad"}, "\u2717 ", plural(differ, "line differs", "lines differ"), ". ") : "\u2713 Each event is as it must be. ",
          session.says.length > 0 && el("b", {}, session.says.join("; "), ". ")),
      el("div", {class: "panel scroll"}, el("table", {class: "grid trace"}, el("thead", {}, el("tr", {}, el("th", {}, ""), el("th", {class: "number"}, "#"), el("th", {class: "number"}, "seq."),
          ["event of the trace", "on", "meaning"].map((t) => el("th", {}, t)), hasTraceTicks && el("th", {class: "number"}, "tick of the file"), hasTraceStacks && el("th", {}, "stack"))),
        el("tbody", {}, rows.slice(from, to).flatMap((r) => traceRow(r, n, session, elsewhere))))),
      el("div", {class: "legend"}, from > 0 || to < rows.length ? `Lines ${from + 1} to ${Math.min(to, rows.length)} of ${number(rows.length)}. ` : "",
          "# is the event on the left at which it happened, by the oracle; seq. the number that the file gives it. \u2212: must be in the trace here; +: is there instead. What comes after the selected event is pale."),
      recordsTable(session)];
  });
}
