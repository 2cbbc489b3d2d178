// measurements.js -- tables, plots and bars of what was measured ("profsim
// measurements"): benchmarks, audits, mutants.
const textOf = (cell) => Array.isArray(cell) ? cell[0] : cell;
const folder = ""; // it links to nothing

function head() {
  document.title = data.title + " \u2013 profsim";
  return el("header", {}, el("div", {class: "kicker"}, "profsim"), el("h1", {}, data.title),
      data.about.map((line) => el("p", {class: "soft"}, line)),
      data.cards.length > 0 && el("div", {class: "cards"}, data.cards.map(([value, text]) => el("div", {}, el("b", {}, value), el("span", {}, text)))));
}

// ---- tables ----
// The sort key of a cell: its first number, or its text.
function orderOf(cell) {
  const text = String(textOf(cell) ?? "");
  const found = parseFloat(text.replace(/[\u2009,]/g, ""));
  return Number.isNaN(found) ? text : found;
}

// Empty cells come last, in ascending and descending order.
function compare(a, b, down) {
  if (a === "" || b === "") return (a === "") - (b === "");
  return down ? order(b, a) : order(a, b);
}

function order(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

const marks = {good: "\u2713 ", bad: "\u2717 "};
const cellOf = (cell, isNumber) => {
  const [text, tone, title] = Array.isArray(cell) ? cell : [cell];
  return el("td", {class: (isNumber ? "number " : "") + (tone === "bad" ? "wrong" : tone || ""), title},
      (marks[tone] || "") + (typeof text === "number" ? number(text) : text ?? ""));
};

function tableOf(section) {
  const body = el("tbody");
  let by = -1, down = false;
  const rows = section.rows.map((row) => ({row, line: null, text: row.map((c) => String(textOf(c) ?? "")).join(" ").toLowerCase()}));
  const isNumber = section.columns.map((_, i) => section.rows.every((row) => /^([-+]?\d.*|-)?$/.test(textOf(row[i]) ?? "")));
  const lineOf = (r) => r.line || (r.line = el("tr", {}, r.row.map((cell, i) => cellOf(cell, isNumber[i]))));
  function draw() {
    const shown = rows.filter((r) => !wanted || r.text.includes(wanted));
    if (by >= 0) shown.sort((a, b) => compare(orderOf(a.row[by]), orderOf(b.row[by]), down));
    body.replaceChildren(...shown.map(lineOf));
    return shown.length;
  }
  const heads = section.columns.map((c, i) => el("th", {class: isNumber[i] ? "number" : "", "aria-sort": "none"}, el("button", {class: "sort", click: () => {
    down = by === i && !down;
    by = i;
    heads.forEach((h, k) => h.setAttribute("aria-sort", k !== i ? "none" : down ? "descending" : "ascending"));
    draw();
  }}, c)));
  tables.push(draw);
  draw();
  return el("div", {class: "panel scroll"}, el("table", {class: "grid measured"}, el("thead", {}, el("tr", {}, heads)), body));
}

// ---- plots: both axes logarithmic ----
const W = 620, H = 300, L = 60, R = 190, B = 30;
const dashes = ["", "7 4", "2 3", "9 3 2 3", "12 3", "4 2"];
const hues = [212, 8, 130, 28, 268, 182, 310, 90, 48, 232];
const colourOf = (i) => `hsl(${hues[i % hues.length]} 55% 50%)`;
const short = (v) => v >= 1e6 ? v / 1e6 + "M" : v >= 1e3 ? v / 1e3 + "k" : String(Number(v.toPrecision(3)));

function plotOf({x, y, marks: verticals, series}) {
  const all = series.flatMap((s) => s.points);
  const span = (k) => { const v = all.map((p) => p[k]); return [Math.min(...v), Math.max(...v)]; };
  const [x0, x1] = span(0), [y0, y1] = span(1);
  const scale = (v, a, b, from, to) => from + (to - from) * (b > a ? Math.log(v / a) / Math.log(b / a) : .5);
  const px = (v) => scale(v, x0, x1, L, W - R), py = (v) => scale(v, y0, y1, H - B, 12);
  const text = (at, down, anchor, words) => Object.assign(svg("text", {x: at, y: down, "text-anchor": anchor}), {textContent: words});
  const drawing = svg("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": y + " by " + x});
  for (const v of [...new Set(all.map((p) => p[0]))])
    drawing.append(svg("line", {x1: px(v), x2: px(v), y1: 12, y2: H - B, stroke: "var(--line)"}), text(px(v), H - B + 15, "middle", short(v)));
  for (let v = 10 ** Math.floor(Math.log10(y0)); v <= y1 * 1.0001; v *= 10)
    for (const m of y1 / y0 > 30 ? [1] : [1, 2, 5])
      if (v * m >= y0 && v * m <= y1)
        drawing.append(svg("line", {x1: L, x2: W - R, y1: py(v * m), y2: py(v * m), stroke: "var(--line)"}), text(L - 6, py(v * m) + 4, "end", short(v * m)));
  drawing.append(text(L - 6, 10, "end", y), text(W - R, H - 2, "end", x));
  for (const [v, name] of verticals)
    drawing.append(svg("line", {x1: px(v), x2: px(v), y1: 12, y2: H - B, stroke: "var(--ink)", "stroke-dasharray": "1 4"}), text(px(v) + 3, 22, "start", name));
  // Names at the ends of their lines, moved apart.
  const ends = series.map((s, i) => ({i, y: py(s.points[s.points.length - 1][1])})).sort((a, b) => a.y - b.y);
  ends.forEach((e, k) => { if (k) e.y = Math.max(e.y, ends[k - 1].y + 14); });
  const over = ends.length ? Math.max(0, ends[ends.length - 1].y - (H - 8)) : 0;
  for (const e of ends) {
    const s = series[e.i], last = s.points[s.points.length - 1];
    const path = svg("path", {d: "M" + s.points.map((p) => px(p[0]).toFixed(1) + " " + py(p[1]).toFixed(1)).join("L"), fill: "none", stroke: colourOf(e.i),
      "stroke-width": e.i ? 1.5 : 3, "stroke-dasharray": dashes[e.i % dashes.length], "data-series": s.name});
    path.append(Object.assign(svg("title", {}), {textContent: s.name + ": " + s.points.map((p) => short(p[0]) + " \u2192 " + p[1]).join(", ")}));
    drawing.append(path, svg("path", {d: `M${px(last[0]) + 2} ${py(last[1])} L${W - R + 14} ${e.y - over}`, stroke: colourOf(e.i), "stroke-width": .7, fill: "none"}),
        text(W - R + 18, e.y - over + 4, "start", s.name));
  }
  return el("div", {class: "panel chart measure"}, drawing);
}

// ---- bars: a ratio around 1, on an axis of powers of two ----
function barsOf(bars) {
  const most = 64, least = .25, at = (v) => 100 * Math.log2(Math.min(most, Math.max(least, v)) / least) / Math.log2(most / least);
  return el("div", {class: "panel bars"}, bars.map(([name, ratio, goal]) => el("div", {class: "bar-row"}, el("span", {class: "mono"}, name),
      el("div", {class: "track"}, el("i", {style: `left:${Math.min(at(1), at(ratio))}%;width:${Math.max(.3, Math.abs(at(ratio) - at(1)))}%;background:var(--${ratio >= 1 ? "accent" : "bad"})`}),
          el("i", {class: "one", style: `left:${at(1)}%`}), goal > 0 && el("i", {class: "goal", style: `left:${at(goal)}%`, title: "goal: " + goal})),
      el("b", {}, ratio.toFixed(2) + (goal > 0 ? " of " + goal : "")))));
}

// ---- the page ----
let wanted = "";
const tables = [];
const search = el("input", {type: "search", id: "search", placeholder: "search rows  ( / )", input: () => {
  wanted = search.value.trim().toLowerCase();
  let shown = 0;
  for (const draw of tables) shown += draw();
  foundNote.textContent = wanted ? plural(shown, "row") : "";
}});
const foundNote = el("span", {class: "soft", id: "found"});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && e.target !== search) { e.preventDefault(); search.focus(); }
});

function sectionOf(section) {
  const parts = [section.columns && tableOf(section), section.plot && plotOf(section.plot), section.bars && barsOf(section.bars)].filter(Boolean);
  const texts = section.text ? [el("p", {class: "soft"}, section.text)] : [];
  if (section.plot) return [el("figure", {}, el("h3", {}, section.title), parts)];
  if (section.folded) return [el("details", {}, el("summary", {}, section.title), texts, parts)];
  return [section.title && el(section.part ? "h3" : "h2", {}, section.title), ...texts, ...parts].filter(Boolean);
}

document.body.append(head(), ...(data.sections.some((s) => s.columns) ? [el("div", {class: "tabs find"}, search, foundNote)] : []), ...data.sections.flatMap(sectionOf));
ready();
