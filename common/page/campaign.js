// campaign.js -- the page of a report ("profsim report", docs/ci.md).
const good = new Set(["holds", "bounded", "sampled", "caught"]);
const bad = new Set(["broken", "no-end", "nondeterministic", "survives", "crashed", "incomplete", "wrong-input"]);
const mark = (verdict) => good.has(verdict) ? "\u2713" : bad.has(verdict) ? "\u2717" : "\u2013";
const tone = (verdict) => good.has(verdict) ? "good" : bad.has(verdict) ? "bad" : "soft";
const failures = data.results.filter((r) => bad.has(r.verdict));
const subjects = [...new Set(data.results.map((r) => r.subject))];
const columns = ["runs", "events", "tried", "graphs", "states", "cells"].filter((c) => data.results.some((r) => r.counts[c] !== undefined));
const others = (r) => Object.entries(r.counts).filter(([k]) => !columns.includes(k)).map(([k, v]) => `${number(v)} ${k.replace(/_/g, " ")}`).join(", ");
const seeds = (r) => r.seed !== undefined ? "seed " + r.seed : r.seeds ? `seeds ${r.seeds.first}..${r.seeds.last}` : "";

function head() {
  const passed = data.results.filter((r) => good.has(r.verdict)).length;
  document.title = (failures.length ? plural(failures.length, "failure") : "no failure") + " \u2013 profsim " + data.command;
  const card = (value, text) => el("div", {}, el("b", {}, value), el("span", {}, text));
  return el("header", {}, el("div", {class: "kicker"}, "profsim " + data.profsim),
      el("h1", {}, el("span", {class: "verdict " + (failures.length ? "bad" : "good")}, failures.length
          ? "\u2717 " + plural(failures.length, "failure") : "\u2713 no failure")),
      commandLine(["profsim", data.command, ...data.arguments].join(" ")),
      el("div", {class: "cards"}, card(number(passed), "hold"), card(number(failures.length), "fail"),
          card(number(data.results.length - passed - failures.length), "not tried or not applicable"), card(data.exit, "exit code")));
}

function failure(r) {
  return [el("h2", {}, el("span", {class: "verdict bad"}, "\u2717 " + (r.property || r.name)), r.about ? ": " + r.about : ""),
    el("div", {class: "why"}, el("b", {}, r.subject, seeds(r) && ", " + seeds(r)), ": ", r.text || r.verdict),
    r.page && el("p", {}, el("a", {href: fileAddress(r.page)}, "its page, event by event")), r.replay && commandLine(r.replay)];
}

function subject(name) {
  const results = data.results.filter((r) => r.subject === name);
  return [el("h2", {}, name), el("div", {class: "panel scroll"}, el("table", {class: "grid"},
      el("thead", {}, el("tr", {}, el("th", {}, ""), el("th", {}, "what"), el("th", {}, "verdict"), columns.map((c) => el("th", {class: "number"}, c)), el("th", {}, ""))),
      el("tbody", {}, results.map((r) => el("tr", {}, el("td", {class: "verdict " + tone(r.verdict)}, mark(r.verdict)),
          el("td", {title: r.about || ""}, r.name, r.about && el("span", {class: "soft"}, "  " + r.about)), el("td", {class: tone(r.verdict)}, r.verdict),
          columns.map((c) => el("td", {class: "number"}, r.counts[c] === undefined ? "" : number(r.counts[c]))),
          el("td", {class: "soft"}, [seeds(r), others(r), bad.has(r.verdict) ? "" : r.text].filter(Boolean).join("; "))))))) ];
}

document.body.append(head(), ...failures.flatMap(failure).filter(Boolean), ...subjects.flatMap(subject));
ready();
