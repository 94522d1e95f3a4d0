// Pictures over time and of durations, drawn by uPlot; the legends are buttons, so that keys reach them.

import { make } from "./elements.js";
import { seconds, size } from "./units.js";

const LEFT = 92;
const DARK = { "#000000": "#f0f0f0", "#4D4D4D": "#bdbdbd", "#0072B2": "#4aa3df", "#8C8C8C": "#a9a9a9", "#D9D9D9": "#777" };
const isDark = matchMedia("(prefers-color-scheme: dark)");

/** Gives a colour of the project's figures, lighter on a dark page where it would not be seen. */
export function colour(name) {
  return isDark.matches ? (DARK[name] ?? name) : name;
}

function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function axis(side, more) {
  const line = { stroke: ink("--grid"), width: 1 };
  return { stroke: ink("--soft"), grid: line, ticks: { ...line, size: 4 }, font: "12px system-ui, sans-serif", ...more };
}

/** Gives the name of the button that shows and hides a line. */
function group(line) {
  return line.group ?? line.name;
}

/** Draws a piece of a line for a legend. */
function sample(line) {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("viewBox", "0 0 26 8");
  picture.setAttribute("aria-hidden", "true");
  const stroke = document.createElementNS(picture.namespaceURI, "line");
  const look = { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colour(line.colour), "stroke-width": line.width ?? 2 };
  if (line.dash?.length) look["stroke-dasharray"] = line.dash.join(" ");
  for (const [name, value] of Object.entries(look)) stroke.setAttribute(name, value);
  picture.append(stroke);
  return picture;
}

/** One picture: made anew when its lines are others, otherwise given new data. */
export class Plot {
  constructor(place, { height, legend = null, options, onCursor = null, onZoom = null }) {
    Object.assign(this, { place, height, legend, options, onCursor, onZoom });
    this.plot = null;
    this.kind = "";
    this.hidden = new Set();
    new ResizeObserver(() => this.#resize()).observe(place);
  }

  /** Draws lines over common values of x; `format` gives the value of the legend. */
  draw(lines, data, { format, kind = "", label, height = this.height, ...more }) {
    const wanted = JSON.stringify([kind, isDark.matches, lines.map((line) => [line.name, line.dash, line.colour])]);
    this.height = height;
    this.lines = lines;
    this.format = format;
    this.more = more;
    if (wanted === this.kind && this.plot) {
      if (this.plot.height !== height) this.#resize();
      this.plot.setData(data);
    } else {
      this.clear();
      this.kind = wanted;
      this.plot = new uPlot(this.#options(lines), data, this.place);
    }
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", label);
    this.#showLegend();
  }

  clear() {
    this.plot?.destroy();
    this.plot = null;
    this.kind = "";
    this.legend?.replaceChildren();
    this.place.removeAttribute("role");
    this.place.removeAttribute("aria-label");
  }

  #options(lines) {
    const own = this.options(this);
    const series = lines.map((line) => ({
      label: line.name,
      stroke: colour(line.colour),
      width: line.width ?? 2,
      dash: line.dash?.length ? line.dash : undefined,
      show: !this.hidden.has(group(line)),
      points: { show: false },
      spanGaps: true,
      paths: line.isStepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
    }));
    return {
      width: Math.max(this.place.clientWidth, 120),
      height: this.height,
      legend: { show: false },
      ...own,
      cursor: { y: false, points: { size: 6 }, ...own.cursor },
      series: [{}, ...series],
      hooks: {
        ...own.hooks,
        setCursor: [(plot) => this.#atCursor(plot)],
        setScale: [(plot, key) => key === "x" && this.onZoom?.(plot.scales.x)],
      },
    };
  }

  #resize() {
    const width = this.place.clientWidth;
    if (this.plot && width > 0 && (width !== this.plot.width || this.height !== this.plot.height)) {
      this.plot.setSize({ width, height: this.height });
    }
  }

  #showLegend() {
    if (!this.legend) return;
    const named = this.lines.filter((line, place) => this.lines.findIndex((each) => group(each) === group(line)) === place);
    const samples = this.more.samples ?? [];
    const names = JSON.stringify([named.map(group), samples, isDark.matches, Boolean(this.format)]);
    if (this.legend.dataset.names !== names || !this.legend.children.length) {
      this.legend.dataset.names = names;
      const plain = samples.map((each) => make("span", { class: "sample" }, sample({ ...each, colour: ink("--soft") }), each.name));
      this.legend.replaceChildren(...[...named.map((line) => this.#entry(line)), ...plain].map((each) => make("li", {}, each)));
    }
    this.#atCursor(this.plot);
  }

  #entry(line) {
    const name = group(line);
    const button = make("button", { type: "button", "aria-pressed": String(!this.hidden.has(name)) }, sample(line), name);
    if (this.format) button.append(make("span", { class: "value" }));
    button.addEventListener("click", () => {
      const show = this.hidden.has(name);
      if (show) this.hidden.delete(name);
      else this.hidden.add(name);
      button.setAttribute("aria-pressed", String(show));
      this.lines.forEach((each, place) => group(each) === name && this.plot.setSeries(place + 1, { show }));
    });
    return button;
  }

  #atCursor(plot) {
    const at = plot?.cursor.idx ?? null;
    if (this.legend && this.format) {
      this.legend.querySelectorAll(".value").forEach((value, place) => {
        const shown = at === null ? null : plot.data[place + 1]?.[at];
        value.textContent = shown === null || shown === undefined ? "" : this.format(shown);
      });
    }
    if (plot) this.onCursor?.(plot, at);
  }
}

/** Options of a picture over time; all of a page move together. */
export function overTime(self) {
  return {
    cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false } },
    scales: { x: { time: false, range: (plot, low, high) => ranged(self, low, high) }, y: { range: (_, low, high) => [0, Math.max(high * 1.05, 1)] } },
    axes: [
      axis("x", { values: (_, splits) => splits.map((at) => `${at} s`), size: 34 }),
      axis("y", { values: (_, splits) => splits.map((at) => (at === null ? "" : size(at))), size: LEFT }),
    ],
  };
}

/** Keeps a time axis from 0 to the end, whatever the data: pictures side by side must agree. */
function ranged(self, low, high) {
  const end = self.more.end || 1;
  return low === null || high - low <= 0 || (low <= 0 && high >= end) ? [0, end] : [Math.max(low, 0), Math.min(high, end)];
}

/** Options of the picture of throttled processes: a row for each, drawn by hand. */
export function spans(self) {
  const base = overTime(self);
  return {
    ...base,
    scales: { x: base.scales.x, y: { range: () => [0, Math.max(self.more.rows.length, 1)] } },
    axes: [
      base.axes[0],
      axis("y", {
        size: LEFT,
        splits: () => self.more.rows.map((_, place) => place + 0.5),
        values: () => [...self.more.rows].reverse().map((row) => shortened(row.name)),
        grid: { show: false },
      }),
    ],
    hooks: { draw: [(plot) => drawSpans(plot, self.more)] },
  };
}

function drawSpans(plot, { rows, fill }) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = colour(fill);
  ctx.strokeStyle = ink("--soft");
  ctx.lineWidth = 1;
  rows.forEach((row, place) => {
    const middle = plot.valToPos(rows.length - place - 0.5, "y", true);
    const half = Math.min(7 * devicePixelRatio, bbox.height / rows.length / 2.4);
    for (const [begin, end] of row.spans) {
      const left = plot.valToPos(begin, "x", true);
      const width = Math.max(plot.valToPos(end, "x", true) - left, devicePixelRatio);
      ctx.fillRect(left, middle - half, width, 2 * half);
      ctx.strokeRect(left, middle - half, width, 2 * half);
    }
  });
  ctx.restore();
}

function shortened(name) {
  return name.length > 13 ? `${name.slice(0, 12)}…` : name;
}

const NINES = [[1, "0 %"], [2, "50 %"], [10, "90 %"], [100, "99 %"], [1e3, "99.9 %"], [1e4, "99.99 %"], [1e5, "99.999 %"], [1e6, "99.9999 %"]];

/** Options of the percentiles: logarithmic in the share that takes longer, as HdrHistogram draws it. */
export function percentiles(self) {
  return {
    scales: { x: { time: false, distr: 3, range: () => [1, self.more.most] }, y: { distr: 3, range: (_, low, high) => decades(low, high) } },
    axes: [
      axis("x", {
        size: 28,
        label: "share of the operations that take no longer",
        labelSize: 18,
        labelFont: "12px system-ui, sans-serif",
        splits: () => NINES.map(([at]) => at).filter((at) => at <= self.more.most),
        values: (plot, splits) => splits.map((at, place) => (place === 1 && plot.width < 500 && splits.length > 3 ? "" : NINES.find(([each]) => each === at)[1])),
        filter: (_, splits) => splits,
      }),
      durationAxis("y"),
    ],
  };
}

/** Options of the histograms. */
export function histograms() {
  return {
    scales: { x: { time: false, distr: 3, range: (_, low, high) => [low / 1.1, high * 1.1] }, y: { range: (_, low, high) => [0, Math.max(high * 1.05, 1)] } },
    axes: [
      { ...durationAxis("x"), size: 34, space: 60 },
      axis("y", { values: (_, splits) => splits.map((at) => `${at} %`), size: LEFT }),
    ],
  };
}

function durationAxis(side) {
  return axis(side, {
    size: LEFT,
    values: (_, splits) => splits.map((at) => (at === null ? "" : seconds(at))),
    filter: (_, splits) => splits,
    splits: (plot, _, low, high) => between(low, high, side === "x" ? (plot.width - LEFT) / 60 : 12),
  });
}

/** Gives ticks of a logarithmic axis, so many at most: decades, or 1, 2 and 5 where there are few. */
function between(low, high, most) {
  const decades = Math.log10(high / low);
  const steps = decades > 3 || 3 * decades > most ? [1] : [1, 2, 5];
  const every = steps.length > 1 ? 1 : Math.max(1, Math.ceil(decades / most));
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    if (power % every) continue;
    for (const step of steps) {
      const at = Number(`${step}e${power}`);
      if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
    }
  }
  return found;
}


function decades(low, high) {
  if (low === null) return [1e-3, 1];
  return [low / 1.3, high * 1.3];
}
