// run.js -- the page of a recorded run ("profsim show").
const sites = data.sites;
const bins = data.bins;
const seconds = (ticks) => ticks / data.ticks_per_second;
const time = (s) => s >= 1 ? s.toFixed(3) + " s" : s >= 1e-3 ? (s * 1e3).toFixed(2) + " ms" : (s * 1e6).toFixed(1) + " \u00b5s";
const hues = [212, 28, 130, 350, 268, 48, 182, 310, 90, 232, 8];
const colour = (i) => i < sites.length ? `hsl(${hues[i % hues.length]} 48% ${i % 2 ? 58 : 66}%)` : "hsl(40 6% 62%)";
const siteName = (i) => i < sites.length ? (sites[i].stack[0] || ["?"])[0] : "all other sites";
const place = (call) => call[2] ? ` (${call[1]}:${call[2]})` : call[1] ? ` (${call[1]})` : "";
const stackList = (stack) => el("div", {class: "mono"}, stack.map((call, i) => el("div", {}, (i ? "< " : "") + call[0], el("span", {class: "soft"}, place(call)))));
const siteBytes = (bin, i) => bin[i];
const sum = (bin) => { let s = 0; for (let i = 0; i <= sites.length; i++) s += bin[i]; return s; };

// ---- head ----
function head() {
  document.title = data.title + " \u2013 profsim";
  const card = (value, text) => el("div", {}, el("b", {}, value), el("span", {}, text));
  return el("header", {}, el("div", {class: "kicker"}, "profsim \u00b7 ", data.title),
      el("h1", {}, el("code", {style: "font-size: 21px"}, data.arguments.join(" ") || data.title)),
      el("div", {class: "cards"},
          card(bytes(data.peak[0]), `peak, in ${number(data.peak[1])} objects, at ${time(seconds(data.peak_ticks))}`),
          card(bytes(data.exit[0]), `never freed, in ${number(data.exit[1])} objects`),
          card(bytes(data.allocs[0]), `allocated, in ${number(data.allocs[1])} objects`),
          card(time(seconds(data.duration_ticks)), `${number(data.events)} events, ${plural(data.threads_count, "thread")}`)),
      data.lost > 0 && el("div", {class: "why"}, plural(data.lost, "event"), " could not be recorded: docs/recording.md says what that means."));
}

// ---- the heap over time ----
const WIDTH = 1200, HEIGHT = 300, LEFT = 76, BOTTOM = 26;
let chosen = -1;

function niceStep(most) {
  let step = 1;
  while (most / step > 5) step *= 2;
  return step;
}

function heapChart() {
  const most = Math.max(1, ...bins.map((b) => sum(b) + 1.96 * b[sites.length + 1]));
  const x = (i) => LEFT + (WIDTH - LEFT - 8) * i / (bins.length - 1);
  const y = (v) => (HEIGHT - BOTTOM) - (HEIGHT - BOTTOM - 10) * v / most;
  const drawing = svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "bytes in use over time, by site"});
  for (let v = 0, step = niceStep(most); v <= most; v += step)
    drawing.append(svg("line", {x1: LEFT, x2: WIDTH - 8, y1: y(v), y2: y(v), stroke: "var(--line)"}),
        Object.assign(svg("text", {x: LEFT - 8, y: y(v) + 4, "text-anchor": "end"}), {textContent: bytes(v)}));
  for (let i = 0; i <= 4; i++)
    drawing.append(Object.assign(svg("text", {x: LEFT + (WIDTH - LEFT - 8) * i / 4, y: HEIGHT - 6, "text-anchor": i === 4 ? "end" : i ? "middle" : "start"}),
        {textContent: time(seconds(data.duration_ticks) * i / 4)}));
  const below = new Array(bins.length).fill(0);
  for (let s = 0; s <= sites.length; s++) {
    const from = below.slice();
    bins.forEach((b, i) => { below[i] += siteBytes(b, s); });
    const top = below.map((v, i) => `${x(i).toFixed(1)} ${y(v).toFixed(1)}`);
    const bottom = from.map((v, i) => `${x(i).toFixed(1)} ${y(v).toFixed(1)}`).reverse();
    drawing.append(svg("path", {d: "M" + top.concat(bottom).join("L") + "Z", fill: colour(s), stroke: "var(--panel)",
      "stroke-width": .7, opacity: chosen >= 0 && chosen !== s ? .2 : 1, "data-site": s}));
    // A site's number stands where its area is thickest, for readers without colour.
    let thick = 0;
    below.forEach((v, i) => { if (v - from[i] > below[thick] - from[thick]) thick = i; });
    if (y(from[thick]) - y(below[thick]) > 13)
      drawing.append(Object.assign(svg("text", {x: Math.min(WIDTH - 20, Math.max(LEFT + 10, x(thick))), y: (y(from[thick]) + y(below[thick])) / 2 + 4,
        "text-anchor": "middle", style: "fill:#1c1a16;font-weight:650"}), {textContent: s < sites.length ? s + 1 : "other"}));
  }
  for (const side of [1, -1])
    drawing.append(svg("path", {fill: "none", stroke: "var(--ink)", "stroke-width": 1, "stroke-dasharray": "2 4",
      d: "M" + bins.map((b, i) => `${x(i).toFixed(1)} ${y(Math.max(0, sum(b) + side * 1.96 * b[sites.length + 1])).toFixed(1)}`).join("L")}));
  const cursor = svg("line", {y1: 6, y2: HEIGHT - BOTTOM, stroke: "var(--accent)", visibility: "hidden"});
  drawing.append(cursor);
  const tip = el("div", {class: "tip", hidden: true});
  const box = el("div", {class: "chart", id: "chart"}, drawing, tip);
  drawing.addEventListener("pointermove", (e) => {
    const area = drawing.getBoundingClientRect();
    const at = ((e.clientX - area.left) / area.width * WIDTH - LEFT) / (WIDTH - LEFT - 8);
    const i = Math.max(0, Math.min(bins.length - 1, Math.round(at * (bins.length - 1))));
    cursor.setAttribute("x1", x(i)); cursor.setAttribute("x2", x(i)); cursor.setAttribute("visibility", "visible");
    tip.replaceChildren(binTable(i));
    tip.hidden = false;
    tip.style.left = Math.min(e.clientX - area.left + 28, area.width - 420) + "px";
    tip.style.top = "20px";
  });
  drawing.addEventListener("pointerleave", () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); });
  drawing.addEventListener("click", (e) => e.target.dataset.site !== undefined && choose(Number(e.target.dataset.site)));
  return box;
}

function binTable(i) {
  const b = bins[i];
  const order = [...Array(sites.length + 1).keys()].filter((s) => b[s] > 0).sort((p, q) => b[q] - b[p]).slice(0, 8);
  const all = sum(b), sigma = b[sites.length + 1];
  return el("div", {}, el("b", {}, bytes(all), " in use"), " near ", time(seconds(data.duration_ticks) * i / (bins.length - 1)),
      el("div", {class: "soft"}, `a sample per ${bytes(data.rate_bytes)} would say ${bytes(Math.max(0, all - 1.96 * sigma))} to ${bytes(all + 1.96 * sigma)}`),
      el("table", {}, el("tbody", {}, order.map((s) => el("tr", {}, el("td", {}, el("span", {class: "swatch", style: `background:${colour(s)}`}), s < sites.length ? s + 1 : ""),
          el("td", {class: "mono"}, siteName(s)), el("td", {}, bytes(b[s])))))));
}

const chartPlace = el("div", {class: "panel"});
const chosenPlace = el("div", {id: "site"});

function choose(s) {
  chosen = chosen === s ? -1 : s;
  chartPlace.replaceChildren(heapChart(), el("div", {class: "key"}, [...Array(sites.length + 1).keys()].map((i) =>
    el("button", {class: chosen >= 0 && chosen !== i ? "dim" : "", click: () => choose(i), title: i < sites.length ? sites[i].stack.map((c) => c[0]).join("\n< ") : ""},
        el("span", {class: "swatch", style: `background:${colour(i)}`}), i < sites.length ? (i + 1) + " " : "", el("span", {class: "mono"}, siteName(i))))));
  const site = sites[chosen];
  chosenPlace.replaceChildren(...(site ? [el("h2", {}, `Site ${chosen + 1}: ${siteName(chosen)}`),
    el("p", {}, `${bytes(site.peak[0])} in ${number(site.peak[1])} objects at the peak; ${bytes(site.exit[0])} never freed; ${bytes(site.allocs[0])} in ${number(site.allocs[1])} objects allocated.`),
    el("p", {class: "soft"}, site.stacks === 1 ? "Its only stack:" : `The largest of its ${number(site.stacks)} stacks:`), stackList(site.stack)] : []));
}

// ---- flame graph ----
const measures = [["in use at the peak", 2], ["never freed", 4], ["allocated in all", 6]];
let measure = 0, root = 0, wanted = "";
const children = data.tree.map(() => []);
data.tree.forEach((node, i) => { if (i) children[node[1]].push(i); });
const flame = el("div", {class: "flame", id: "flame"});
const flameNote = el("span", {class: "soft", id: "found"});

function warm(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  hash >>>= 0;
  return `hsl(${20 + hash % 32} ${62 + hash % 20}% ${62 + (hash >> 8) % 14}%)`;
}

function drawFlame() {
  const at = measures[measure][1];
  const all = data.tree[root][at];
  const boxes = [];
  let deepest = 0, found = 0;
  const matches = (i) => wanted && data.names[data.tree[i][0]].toLowerCase().includes(wanted);
  function put(i, left, depth, isFound) {
    const node = data.tree[i], name = i ? data.names[node[0]] : "all";
    const width = node[at] / all * 100;
    if (width < .05) return;
    const hit = i > 0 && matches(i);
    if (hit && !isFound) found += node[at];
    deepest = Math.max(deepest, depth);
    boxes.push(el("div", {
      style: `left:${left}%;width:${width}%;top:${depth * 20}px;background:${i ? warm(name) : "hsl(40 20% 75%)"}`,
      class: hit ? "found" : wanted ? "faded" : "", click: () => { root = i; drawFlame(); },
      title: `${name}\n${bytes(node[at])} in ${number(node[at + 1])} objects, ${(100 * node[at] / data.tree[0][at]).toFixed(2)} %`,
    }, width > 1.2 ? name : ""));
    let from = left;
    for (const child of children[i]) { put(child, from, depth + 1, isFound || hit); from += data.tree[child][at] / all * 100; }
  }
  if (all > 0) put(root, 0, 0, false);
  flame.style.height = (deepest + 1) * 20 + "px";
  flame.replaceChildren(...(all > 0 ? boxes : [el("p", {class: "soft"}, "Nothing.")]));
  flameNote.textContent = wanted && all > 0 ? `${(100 * found / all).toFixed(1)} % of the bytes shown` : "";
}

function flames() {
  const tabs = measures.map(([text], i) => el("button", {"aria-pressed": i === measure, click: () => {
    measure = i;
    tabs.forEach((t, k) => t.setAttribute("aria-pressed", k === i));
    drawFlame();
  }}, text));
  const search = el("input", {type: "search", id: "search", placeholder: "search functions  ( / )", input: () => {
    wanted = search.value.trim().toLowerCase();
    drawFlame();
  }});
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && e.target !== search) { e.preventDefault(); search.focus(); }
    if (e.key === "Escape") { root = 0; search.value = wanted = ""; drawFlame(); }
  });
  return [el("h2", {}, "Where from"), el("div", {class: "panel"}, el("div", {class: "tabs"}, tabs, search,
      el("button", {click: () => { root = 0; drawFlame(); }}, "whole"), flameNote), flame),
    el("div", {class: "legend"}, "A box is a function, its width the bytes; what it called is below. Click to enlarge, ", el("kbd", {}, "Esc"), " to see all again.")];
}

// ---- tables ----
function table(title, heads, rows, note) {
  return rows.length ? [el("h2", {}, title), el("div", {class: "panel scroll"}, el("table", {class: "grid"},
      el("thead", {}, el("tr", {}, heads.map((h, i) => el("th", {class: i ? "number" : ""}, h)))), el("tbody", {}, rows))),
    note && el("div", {class: "legend"}, note)] : [];
}

const cells = (first, ...others) => el("tr", {}, el("td", {}, first), others.map((o) => el("td", {class: "number"}, o)));
const details = (text, stack) => el("details", {}, el("summary", {}, text), stackList(stack));

choose(-1);
drawFlame();
document.body.append(head(), el("h2", {}, "Heap over time, by site"), chartPlace,
    el("div", {class: "legend"}, "Each step shows its moment of most bytes, exactly. Dotted: what 95 % of the estimates of a sampling profiler would say. Click a site for its stack."),
    chosenPlace, ...flames(),
    ...table("Locks that threads waited for", ["longest wait at", "waits", "in all", "longest"], data.locks.map((l) =>
      cells(details("lock " + l.lock + ": " + ((l.stack[0] || ["?"])[0]), l.stack), number(l.waits), time(seconds(l.ticks)), time(seconds(l.longest)))),
      data.locks_count > data.locks.length && `The ${data.locks.length} longest of ${number(data.locks_count)}.`),
    ...table("Threads", ["thread", "allocated", "in use at the peak", "never freed", "freed by it"], data.threads.map((t) =>
      cells(t.thread + (t.name ? " " + t.name : ""), bytes(t.allocs[0]), bytes(t.peak[0]), bytes(t.exit[0]), bytes(t.freed[0])))));
ready();
