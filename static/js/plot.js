// Draws every chart of the page from its JSON, in the page's colours; saves it as CSV, JSON, SVG or PNG.
const libraries = new Map();

// Plotly brings a style sheet for maps and writes it into the page unless an element has this name already;
// the content security policy forbids that, and nothing here draws a map.
const MAP_STYLE = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";

function loadOnce(url) {
  if (window.Plotly) return Promise.resolve(window.Plotly); // a report holds it
  if (!libraries.has(url)) {
    libraries.set(url, new Promise((resolve, reject) => {
      const placeholder = document.createElement("meta");
      placeholder.id = MAP_STYLE;
      document.head.append(placeholder);
      const script = document.createElement("script");
      script.src = url;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("The drawing library could not be loaded."));
      document.head.append(script);
    }));
  }
  return libraries.get(url);
}

const themes = new Map();
function loadThemes(url) {
  const inside = document.getElementById("plot-themes");
  if (inside) return Promise.resolve(JSON.parse(inside.textContent));
  if (!themes.has(url)) themes.set(url, fetch(url).then((reply) => reply.json()));
  return themes.get(url);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// "$c1" -> the colour that the token --c1 has now.
function withColours(value, probe) {
  if (typeof value === "string" && value.startsWith("$")) {
    probe.style.color = `var(--${value.slice(1)})`;
    return getComputedStyle(probe).color;
  }
  if (Array.isArray(value)) return value.map((one) => withColours(one, probe));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withColours(one, probe)]));
  }
  return value;
}

function payloadOf(frame) {
  return JSON.parse(document.getElementById(`plot-${frame.dataset.plot}`).textContent);
}

function shortName(text) {
  return text.length > 17 ? `${text.slice(0, 16).trimEnd()}…` : text;
}

async function draw(frame) {
  const target = frame.querySelector(".plot");
  const [plotly, theme] = await Promise.all([loadOnce(frame.dataset.plotly), loadThemes(frame.dataset.themes)]);
  const { figure } = payloadOf(frame);
  const colours = withColours(figure, frame.querySelector("figcaption"));
  frame.querySelector("figcaption").style.removeProperty("color");
  const isNarrow = target.clientWidth < 500;
  const layout = { height: isNarrow ? 250 : 290, ...colours.layout, template: theme[isDark() ? "dark" : "light"] };
  if (isNarrow && layout.annotations?.length) {
    layout.annotations = [];
    layout.margin = { ...layout.margin, r: Math.min(layout.margin?.r ?? 16, 24) }; // no end labels, no room
  }
  if (isNarrow && (colours.data ?? []).length > 1) layout.showlegend = true;
  if (isNarrow && layout.margin?.l > 120) { // names beside the plot leave it room
    layout.margin = { ...layout.margin, l: 110 };
    if (layout.yaxis?.ticktext) layout.yaxis = { ...layout.yaxis, ticktext: layout.yaxis.ticktext.map(shortName) };
  }
  if (isNarrow && layout.xaxis && layout.xaxis.type !== "category" && !layout.xaxis.ticktext) {
    layout.xaxis = { tickangle: 0, ...layout.xaxis, nticks: Math.min(layout.xaxis.nticks ?? 4, 4) };
  }
  await plotly.react(target, colours.data, layout, theme.config);
  followMarks(target);
  frame.dataset.drawn = "yes";
  for (const button of frame.querySelectorAll("[data-save]")) button.hidden = false;
}

// A mark opens the address that its custom data and, before it, `layout.meta.href` make.
function followMarks(target) {
  if (target.dataset.follows) return;
  target.dataset.follows = "yes";
  const addressOf = ({ points }) => {
    const mark = points?.[0]?.customdata;
    return typeof mark === "string" && mark ? (target.layout?.meta?.href ?? "") + mark : "";
  };
  target.on("plotly_click", (click) => {
    const address = addressOf(click);
    if (!address) return;
    if (click.event?.ctrlKey || click.event?.metaKey) window.open(address, "_blank", "noopener");
    else location.assign(address);
  });
  target.on("plotly_hover", (hover) => target.classList.toggle("on-mark", Boolean(addressOf(hover))));
  target.on("plotly_unhover", () => target.classList.remove("on-mark"));
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    draw(entry.target).catch((error) => {
      entry.target.querySelector(".plot").textContent = `${error.message} The numbers are below.`;
    });
  }
}, { rootMargin: "300px" });

// A page that may be printed draws everything at once; others draw what comes into view.
function drawAll(root) {
  const frames = [...root.querySelectorAll("[data-plot]")].filter((frame) => !frame.dataset.drawn);
  if ("drawsAll" in document.body.dataset) for (const frame of frames) draw(frame);
  else for (const frame of frames) watcher.observe(frame);
}

function saveFile(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A cell that a spreadsheet would run as a formula gets an apostrophe in front.
function csvCell(value) {
  let text = value === null ? "" : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function save(frame, format) {
  const name = frame.dataset.savedAs || frame.dataset.plot;
  const { columns, rows } = payloadOf(frame);
  if (format === "csv") {
    saveFile(`${name}.csv`, "text/csv", [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n"));
  } else if (format === "json") {
    saveFile(`${name}.json`, "application/json", JSON.stringify({ columns, rows }, null, 1));
  } else {
    const plotly = await loadOnce(frame.dataset.plotly);
    await plotly.downloadImage(frame.querySelector(".plot"), { format, filename: name, scale: format === "png" ? 2 : 1 });
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-save]");
  if (button) save(button.closest("[data-plot]"), button.dataset.save);
});

function redraw() {
  for (const frame of document.querySelectorAll("[data-plot][data-drawn]")) draw(frame);
}
document.addEventListener("themechange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
document.addEventListener("htmx:afterSwap", (event) => drawAll(event.target));
let resizing;
window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(redraw, 200); });
drawAll(document);
