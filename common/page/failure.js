// failure.js -- the page of one run, event by event ("profsim failure").
const events = data.events;
const broken = data.broken;
const isThreads = data.kind === "threads";
// If every event is needed, no star is shown: it would tell nothing.
const allNeeded = data.needed && data.needed.length === data.events_count;
const needed = data.needed && !allNeeded ? new Set(data.needed) : null;
const columns = data.columns.slice();
for (const e of events)
  while (e.column !== undefined && e.column >= columns.length) columns.push("p" + columns.length);

// ---- the state after each event: all changes up to it, added up ----
const buckets = [];
const KEEP = 200; // events from one kept state to the next
const kept = [];

function apply(rows, event) {
  for (const row of event.rows || []) rows[row[0]] = row;
}

(function keepStates() {
  const rows = [];
  events.forEach((event, i) => {
    for (const b of event.buckets || []) buckets.push(b);
    if (i % KEEP === 0) kept.push(rows.slice());
    apply(rows, event);
  });
})();

function rowsAt(index) {
  const from = Math.floor(index / KEEP);
  const rows = kept[from].slice();
  for (let i = from * KEEP; i <= index; i++) apply(rows, events[i]);
  return rows;
}

// The first event after which a published number is not the oracle's; -1: none.
const firstWrong = events.findIndex((e) => (e.rows || []).some((r) => r[1] !== r[3] || r[2] !== r[4]));

// ---- head ----
// If a trace breaks a property, the breach is shown at its session's first difference.
if (broken && broken.event === undefined && events.length)
  broken.event = firstTraceDifference() || events[events.length - 1].n;
const brokenIndex = broken ? Math.min(
    Math.max(events.findIndex((e) => e.n >= broken.event), events.some((e) => e.n >= broken.event) ? 0 : events.length - 1),
    events.length - 1) : -1;

function head() {
  const name = broken && broken.property ? broken.property + (isThreads ? "" : " broken")
      : broken ? "fails" : "every property holds";
  document.title = name + " \u2013 " + data.title;
  return el("header", {},
      el("div", {class: "kicker"}, "profsim \u00b7 ", data.title,
          data.rules ? " \u00b7 rules " + data.rules : data.subject ? " \u00b7 subject " + data.subject : ""),
      el("h1", {}, el("span", {class: "verdict " + (broken ? "bad" : "good")},
          (broken ? "\u2717 " : "\u2713 ") + name), broken && broken.sentence ? ": " + broken.sentence : ""),
      broken && el("div", {class: "why"},
          isThreads || !events.length || traces.length ? "" : el("b", {}, "Event " + broken.event + ": "), broken.text,
          broken.site && el("div", {}, "at ", el("code", {}, broken.site), broken.against && [", against ", el("code", {}, broken.against)])),
      data.command && commandLine(data.command),
      (data.scenario || data.about) && el("details", {},
          el("summary", {class: "soft"}, data.scenario ? "The scenario as a file, with what it sets" : "About this file"),
          el(data.scenario ? "pre" : "p", {style: "white-space: pre-wrap"}, (data.scenario || data.about).trim())));
}

// ---- timeline ----
const phases = {marking: "marking", terminated: "mark ended", sweeping: "sweeping", idle: ""};
const hasBands = !isThreads && events.some((e) => (e.phase && e.phase !== "idle") || e.column === undefined);
const hasTicks = events.some((e) => e.ticks > 0);
const width = columns.length + hasBands + hasTicks; // cells behind the number
let current = 0;
const lines = [];

// Time and processor have columns of their own, so the text leaves them out.
function eventText(event) {
  return [event.text.replace(/^(@\+\d+ )?(p\d+: )?/, "").replace(/ -$/, ""), event.site && el("span", {class: "site", title: event.site}, event.site.replace(/^.*\//, ""))];
}

function choicesBefore(n) {
  return (data.choices || []).filter((c) => c.event === n && c.value > 0);
}

function timeline() {
  const body = el("tbody");
  let phase = "idle";
  let ticks = 0;
  events.forEach((event, i) => {
    const isBroken = i === brokenIndex;
    for (const c of choicesBefore(event.n))
      body.append(el("tr", {class: "choice"}, el("td", {class: "n"}, "\u25c6"),
          el("td", {colspan: width}, c.text, c.necessary ? ": necessary" : ": not necessary")));
    const cells = columns.map((_, c) => el("td", {}, c === event.column ? eventText(event) : ""));
    const band = hasBands && el("td", {class: "band " + (event.phase || "")},
        event.phase !== phase ? phases[event.phase] || "" : "",
        event.column === undefined ? el("span", {class: "mono"}, (event.phase !== phase && phases[event.phase] ? "\n" : ""), eventText(event)) : "");
    const isNeeded = needed && needed.has(event.n);
    const row = el("tr", {
      "data-n": event.n, click: () => show(i),
      class: (isBroken ? "broken " : "") + (needed && !isNeeded ? "unneeded" : ""),
    }, el("td", {class: "n"}, (isBroken ? "\u2717 " : isNeeded ? "\u2605 " : "") + event.n),
        hasTicks && el("td", {class: "n"}, event.ticks !== ticks ? number(event.ticks) : ""), band, cells);
    ticks = event.ticks;
    phase = event.phase;
    lines.push(row);
    body.append(row);
    for (const f of event.faults || []) body.append(el("tr", {class: "note"}, el("td"), el("td", {colspan: width},
        "\u26a1 fault: " + f)));
    if (event.stale) body.append(el("tr", {class: "note"}, el("td"), el("td", {colspan: width},
        "\u21b0 stale: " + event.stale.text)));
  });
  for (const c of choicesBefore(null))
    body.append(el("tr", {class: "choice"}, el("td", {class: "n"}, "\u25c6"),
        el("td", {colspan: width}, c.text, c.necessary ? ": necessary" : ": not necessary")));
  return el("div", {class: "timeline scroll", id: "timeline"},
      el("table", {class: "grid"}, el("thead", {}, el("tr", {}, el("th", {}, "#"),
          hasTicks && el("th", {class: "number"}, "tick"), hasBands && el("th", {}, "collection"), columns.map((c) => el("th", {}, c)))), body));
}

// Arrows from a stale read back to the store that it saw.
function drawArrows() {
  const box = document.getElementById("timeline");
  const old = box.querySelector("svg");
  if (old) old.remove();
  const stale = events.filter((e) => e.stale);
  if (!stale.length) return;
  const byNumber = new Map(events.map((e, i) => [e.n, lines[i]]));
  const drawing = svg("svg", {width: box.scrollWidth, height: box.scrollHeight},
      svg("defs", {}, svg("marker", {id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto"},
          svg("path", {d: "M0 0 L8 4 L0 8 z", fill: "var(--bad)"}))));
  for (const e of stale) {
    const from = byNumber.get(e.n), to = byNumber.get(e.stale.from);
    const cell = (row, event) => row.cells[row.cells.length - columns.length + event.column];
    const a = cell(from, e), b = to && cell(to, events[lines.indexOf(to)]);
    const x1 = a.offsetLeft + 2, y1 = a.offsetTop + 12;
    const x2 = b ? b.offsetLeft + 2 : x1, y2 = b ? b.offsetTop + 14 : lines[0].offsetTop + 2; // before the run
    const bend = Math.max(6, Math.min(x1, x2) - 22);
    drawing.append(svg("path", {
      d: `M${x1} ${y1} C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`, fill: "none",
      stroke: "var(--bad)", "stroke-width": 1.6, "stroke-dasharray": "5 3", "marker-end": "url(#tip)",
    }));
  }
  box.append(drawing);
}

// The command that stops in a debugger before an event.
function debugCommand(event) {
  if (!data.command) return null;
  if (!isThreads) return data.command.replace(/^profsim replay/, "gdb --args profsim replay --break " + event.n);
  return /\.cc? /.test(data.command) ? data.command.replace(/( --replay \S+)/, "$1 --gdb " + event.n) : null;
}

// ---- the profile at an event ----
const signed = (a, f) => (a || f) ? (a ? "+" + number(a) : "") + (a && f ? " " : "") + (f ? "\u2212" + number(f) : "") : "";
const both = (a, f) => a === null ? "not listed" : number(a) + " / " + number(f);
const bucketName = (b) => b.stack + (b.kind === "heap" ? ", " + number(b.size) + " B" : "");
const framesOf = (name) => (data.stacks.find((s) => s.name === name) || {frames: []}).frames;

function bucketCell(b) {
  const frames = framesOf(b.stack);
  return el("td", {title: frames.join("\n< ")}, bucketName(b));
}

// Slots in the order in which counts pass through them, from recording to publishing.
function slotsOf(event) {
  if (data.scheme === "stages")
    return [{at: 1, text: "recent", about: "recorded now"}, {at: 0, text: "previous", about: "published next"}];
  const c = event.cycle % 3;
  return [{at: (c + 2) % 3, text: "made now"}, {at: (c + 1) % 3, text: "swept now"},
      {at: c, text: event.flushed ? "flushed" : "next flush"}]
      .map((s) => ({...s, about: "slot " + s.at}));
}

function heapTable(event, rows, before) {
  const list = rows.filter((r) => r && buckets[r[0]].kind === "heap");
  if (!list.length) return null;
  const slots = slotsOf(event);
  const cell = (row, at, text, wrong) => {
    const old = before[row[0]] || [];
    const changed = before.length && (row[at] !== (old[at] || 0) || row[at + 1] !== (old[at + 1] || 0));
    return el("td", {class: "number" + (changed ? " changed" : "") + (wrong ? " wrong" : "")}, text);
  };
  let wrongs = 0;
  const table = el("table", {class: "grid ring"}, el("thead", {}, el("tr", {}, el("th", {}, "bucket"),
      slots.map((s) => el("th", {class: "number"}, s.text + " \u2192", el("span", {class: "slot"}, s.about))),
      el("th", {class: "number"}, "published", el("span", {class: "slot"}, "allocs / frees")),
      el("th", {class: "number"}, "published must be", el("span", {class: "slot"}, "by the oracle")))),
    el("tbody", {}, list.map((r) => {
      const wrong = r[1] !== r[3] || r[2] !== r[4];
      wrongs += wrong;
      return el("tr", {}, bucketCell(buckets[r[0]]),
          slots.map((s) => cell(r, 5 + 2 * s.at, signed(r[5 + 2 * s.at], r[6 + 2 * s.at]))),
          cell(r, 1, (wrong ? "\u2717 " : "") + both(r[1], r[2]), wrong),
          el("td", {class: "number" + (wrong ? " wrong" : " soft")}, wrong ? both(r[3], r[4]) : "\u2713"));
    })));
  const way = data.scheme === "stages"
      ? "An allocation enters at \u201crecent\u201d, the free of a swept object at \u201cprevious\u201d. A rotation publishes the right column and moves the left one there. "
      : "An allocation and a free by the program enter at \u201cmade now\u201d, the free of a swept object at \u201cswept now\u201d. Each mark termination moves all one column to the right; the flush publishes the last. ";
  const cycle = data.scheme === "stages" ? "" : "Cycle " + number(event.cycle) + (event.flushed ? ", flushed. " : ", not flushed yet. ");
  return [el("h3", {}, "Heap profile, on its way to being published"), el("div", {class: "panel scroll"}, table),
    el("div", {class: "legend"}, cycle, wrongs ? el("b", {class: "verdict bad"}, plural(wrongs, "bucket differs", "buckets differ") + " from the oracle. ") : "",
        "+ allocations, \u2212 frees that wait. ", way, "Marked cells changed with this event; hover a bucket for its stack.")];
}

function waitTable(rows, before, kind, title) {
  const list = rows.filter((r) => r && buckets[r[0]].kind === kind);
  if (!list.length) return null;
  return [el("h3", {}, title), el("div", {class: "panel scroll"}, el("table", {class: "grid"},
      el("thead", {}, el("tr", {}, el("th", {}, "stack"), ["events", "ticks", "events must be", "ticks must be"].map((t) => el("th", {class: "number"}, t)))),
      el("tbody", {}, list.map((r) => {
        const old = before[r[0]] || [];
        const cells = [1, 2, 3, 4].map((v) => {
          const wrong = r[v] !== r[v > 2 ? v - 2 : v + 2];
          const changed = before.length && v < 3 && r[v] !== (old[v] || 0);
          return el("td", {class: "number" + (wrong ? " wrong" : v > 2 ? " soft" : "") + (changed ? " changed" : "")},
              (wrong && v < 3 ? "\u2717 " : "") + number(r[v]));
        });
        return el("tr", {}, bucketCell(buckets[r[0]]), cells);
      }))))];
}

function snapshotTable(event) {
  const s = event.snapshot;
  if (!s) return null;
  const known = s.termination !== undefined;
  const rows = s.rows.map((r) => {
    const bucket = buckets[r[0]];
    const mustList = s.all || r[3] !== r[4];
    const wrong = known && s.status === "ok" && r[3] !== null &&
        (r[1] === null ? mustList : r[1] !== r[3] || r[2] !== r[4]);
    if (r[1] === null && !(known && mustList)) return null;
    return el("tr", {}, bucketCell(bucket),
        el("td", {class: "number" + (wrong ? " wrong" : "")}, (wrong ? "\u2717 " : "") + both(r[1], r[2])),
        known && el("td", {class: "number" + (wrong ? " wrong" : "")}, r[3] === null ? "" : both(r[3], r[4])));
  });
  return [el("h3", {}, "What this snapshot shows"),
    s.status !== "ok" && el("p", {}, "It returned: " + s.status),
    el("div", {class: "panel scroll"}, el("table", {class: "grid"}, el("thead", {}, el("tr", {}, el("th", {}, "bucket"),
        el("th", {class: "number"}, "shows (allocs / frees)"),
        known && el("th", {class: "number"}, "the heap at mark termination " + s.termination))), el("tbody", {}, rows.filter(Boolean)))),
    !known && el("div", {class: "legend"}, "A fault has not healed, so there is no heap to compare with.")];
}

function subjectTable(event) {
  if (!event.shows) return null;
  return [el("h3", {}, "What the profiler shows"), el("div", {class: "panel scroll"}, el("table", {class: "grid"},
      el("thead", {}, el("tr", {}, el("th", {}, "site"), el("th", {class: "number"}, "objects in use"), el("th", {class: "number"}, "bytes"))),
      el("tbody", {}, event.shows.map((r) => el("tr", {}, bucketCell({stack: r.stack}), el("td", {class: "number"}, number(r.objects)), el("td", {class: "number"}, number(r.bytes)))))))];
}

function tasksTable(event) {
  const parts = [];
  if (event.procs)
    parts.push(el("h3", {}, "Processors"), el("div", {class: "panel scroll procs"}, el("table", {class: "grid"}, el("tbody", {},
        event.procs.map((t, p) => el("tr", {}, el("td", {}, "p" + p), el("td", {}, t || "no task")))))),
        el("div", {class: "legend"}, (event.tracing ? "Tracing. " : "Not tracing. ") + event.waiting.join("; ")));
  if (event.queues)
    parts.push(el("h3", {}, "Waiting for locks"), el("ul", {}, event.queues.map((q) => el("li", {class: "mono"}, q))));
  return parts;
}

// Explored programs: what each memory location holds.
function memoryTable(index) {
  if (!isThreads) return null;
  const places = new Map();
  for (let i = 0; i <= index; i++) {
    const e = events[i];
    if (e.place === undefined) continue;
    const old = places.get(e.place) || {value: "?"};
    if (e.stored !== undefined) places.set(e.place, {value: e.stored, by: e.column, n: e.n});
    else if (e.read !== undefined && !e.stale && old.value === "?") places.set(e.place, {value: e.read, n: null});
  }
  if (!places.size) return null;
  const here = events[index];
  return [el("h3", {}, "Memory: the newest store"), el("div", {class: "panel scroll"}, el("table", {class: "grid"},
      el("thead", {}, el("tr", {}, ["place", "value", "stored by"].map((t) => el("th", {}, t)))),
      el("tbody", {}, [...places].map(([place, p]) => {
        const mark = place === here.place ? " changed" : "";
        const by = p.n === null || p.by === undefined ? "before the run" : columns[p.by] + ", event " + p.n;
        return el("tr", {}, el("td", {class: mark}, place), el("td", {class: mark}, p.value), el("td", {}, by));
      })))),
    here.stale && el("p", {class: "why"}, "This read returned an old value, " + here.read + ": " + here.stale.text + ".")];
}

// Explanations of scenario words whose meaning is hard to guess.
const words = {
  free: "the program frees it, not the sweeper", drop: "nothing refers to it any more", "gc-sweep": "the sweeper frees it",
  "gc-mark": "the collector begins to mark", "gc-terminate": "marking ends; the next cycle of the profile begins",
  "gc-terminate-stw": "marking ends and all is swept while the world is stopped; the next cycle of the profile begins",
  "gc-flush": "the profile publishes its oldest cycle", "gc-post-sweep": "the heap profile is informed that the sweep is done",
  snapshot: "the profile of what is in use is read", "snapshot-all": "the whole profile is read", iterate: "what is published is read",
  block: "a wait of that many ticks, at a stack, has ended", mutex: "a release, at a stack, has ended waits of that many ticks",
};
const wordOf = (event) => isThreads ? "" : words[event.text.replace(/^(@\+\d+ )?([pt]\d+: )?/, "").split(" ")[0]] || "";

function state(index) {
  const event = events[index];
  const rows = rowsAt(index);
  const before = index > 0 ? rowsAt(index - 1) : [];
  const where = event.column === undefined ? "the collector" : columns[event.column];
  const isNeeded = needed ? needed.has(event.n) : null;
  return [
    el("h2", {}, "After event " + event.n),
    el("div", {class: "event"}, el("code", {}, event.text), " ", el("span", {class: "soft"}, "on " + where,
        event.ticks !== undefined ? ", tick " + number(event.ticks) : "", event.site ? ", " + event.site : "", wordOf(event) && ": " + wordOf(event))),
    isNeeded === true && el("p", {}, "\u2605 Without this event the failure disappears."),
    (event.faults || []).map((f) => el("p", {}, "A fault that the scenario puts in here: " + f + ".")),
    index === brokenIndex && el("div", {class: "why"}, el("b", {}, traces.length ? "Here the trace first differs. " : "Here it breaks. "), broken.text,
        firstWrong >= 0 && firstWrong < index && [". The profile differs since ", el("button", {click: () => show(firstWrong)}, "event " + events[firstWrong].n), "."]),
    snapshotTable(event), subjectTable(event), heapTable(event, rows, before),
    waitTable(rows, before, "block", "Block profile"), waitTable(rows, before, "mutex", "Mutex profile"),
    memoryTable(index), tasksTable(event), traceTables(event.n),
    debugCommand(event) && [el("h3", {}, "Stop before it"), commandLine(debugCommand(event))],
  ].flat(3).filter(Boolean);
}

// ---- moving ----
const slider = el("input", {type: "range", min: 0, max: Math.max(0, events.length - 1), value: 0,
  "aria-label": "event", id: "slider", input: () => show(Number(slider.value))});
const at = el("span", {class: "at"});
const statePane = el("section", {class: "state", id: "state", "aria-live": "polite"});

function show(index) {
  if (!events.length) return;
  index = Math.max(0, Math.min(events.length - 1, index));
  lines[current].classList.remove("here");
  current = index;
  lines[index].classList.add("here");
  const box = document.getElementById("timeline");
  const top = lines[index].offsetTop;
  if (top < box.scrollTop + 40) box.scrollTop = top - 40;
  else if (top + lines[index].offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = top + lines[index].offsetHeight - box.clientHeight;
  slider.value = index;
  at.textContent = "event " + events[index].n + " of " + number(data.events_count || events.length);
  statePane.replaceChildren(...state(index));
  document.documentElement.dataset.event = events[index].n;
}

function jumpNeeded(step) {
  for (let i = current + step; i >= 0 && i < events.length; i += step)
    if (needed ? needed.has(events[i].n) : allNeeded || i === brokenIndex) return show(i);
}

const keys = {
  ArrowDown: () => show(current + 1), ArrowRight: () => show(current + 1), j: () => show(current + 1),
  ArrowUp: () => show(current - 1), ArrowLeft: () => show(current - 1), k: () => show(current - 1),
  PageDown: () => show(current + 10), PageUp: () => show(current - 10),
  Home: () => show(0), End: () => show(events.length - 1),
  n: () => jumpNeeded(1), p: () => jumpNeeded(-1), b: () => brokenIndex >= 0 && show(brokenIndex),
  d: () => firstWrong >= 0 && show(firstWrong),
};

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
});

function choices() {
  if (!data.curve) return null;
  return [el("h2", {}, "How likely it is, once the first choices are given"),
    el("p", {class: "soft"}, "Each bar: " + data.curve_runs + " random runs that begin with the first choices of this run (on the left: how many), and the share of them that fails."),
    el("table", {class: "grid"}, el("tbody", {}, data.curve.map(([given, percent]) => el("tr", {},
        el("td", {class: "number"}, given), el("td", {class: "number"}, percent + " %"),
        el("td", {}, el("div", {style: `width:${Math.max(1, percent * 3)}px;height:10px;background:var(--accent)`}))))))];
}

const cut = data.events_count > events.length && events.length && events[0].n > 1;
document.body.append(head(),
    events.length ? el("div", {class: "steps"}, el("div", {},
        el("div", {class: "panel"}, el("div", {class: "bar"},
            el("button", {click: () => show(current - 1), "aria-label": "back"}, "\u25c0"), slider,
            el("button", {click: () => show(current + 1), "aria-label": "forward"}, "\u25b6"), at), timeline()),
        el("div", {class: "legend"}, el("kbd", {}, "\u2191"), " ", el("kbd", {}, "\u2193"), " step, ",
            allNeeded && "each event is needed for the failure, ",
            firstWrong >= 0 && [el("kbd", {}, "d"), " where the profile first differs, "],
            needed && [el("kbd", {}, "n"), " ", el("kbd", {}, "p"), " next and previous \u2605 event that the failure needs, "],
            broken && [el("kbd", {}, "b"), " where it breaks, "], el("kbd", {}, "Home"), " ", el("kbd", {}, "End"), ". ",
            cut ? "The first " + number(events[0].n - 1) + " events are left out. " : "",
            data.left_out ? plural(data.left_out, "event") + " that the failure does not depend on are left out." : "")),
      statePane) : el("p", {}, "Nothing happened before it failed."), ...(choices() || []));
if (events.length) show(brokenIndex >= 0 ? brokenIndex : 0);
if (isThreads && events.length) { drawArrows(); addEventListener("resize", drawArrows); }
ready();
