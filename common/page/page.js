// page.js -- what all pages share. Text from the data is always inserted as
// text, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);

// An element: el("td", {class: "n"}, "text", child, ...). A function is a
// listener; null and false are left out.
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== null && value !== false && value !== undefined)
      element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((c) => c !== null && c !== false && c !== undefined));
  return element;
}

// The address of a file that the data names, relative to the folder of this page.
const fileAddress = (path) => (path.startsWith("/") ? path : folder + path).split("/").map(encodeURIComponent).join("/");

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const number = (n) => n.toLocaleString("en-US").replace(/,/g, "\u2009");

function bytes(n) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; Math.abs(n) >= 1024 && unit < 4; unit++) n /= 1024;
  return (unit === 0 ? number(n) : n.toFixed(1)) + " " + units[unit];
}

const plural = (n, one, many) => number(n) + " " + (n === 1 ? one : many || one + "s");

// The command that makes this result again, with a button to copy it.
function commandLine(text) {
  const button = el("button", {
    click: () => navigator.clipboard && navigator.clipboard.writeText(text).then(() => {
      button.textContent = "copied";
    }, () => {}),
  }, "copy");
  return text && el("div", {class: "command"}, el("code", {}, text), button);
}

function ready() {
  document.documentElement.dataset.ready = "yes";
}
