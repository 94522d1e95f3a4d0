// Draws an answer: memory, throttled writers, lists, times of operations.

import { byId } from "./elements.js";
import { Plot, histograms, overTime, percentiles, spans } from "./plots.js";
import { seconds, size } from "./units.js";

const INSTANTS = 1000;
const NAMED = 3;

/** The pictures of the page. */
export class Pictures {
  constructor() {
    this.memory = new Plot(byId("memory"), {
      height: 280,
      legend: byId("memory-legend"),
      options: overTime,
      onCursor: (plot, at) => this.#showInstant(plot, at),
      onZoom: ({ min, max }) => (byId("zoom-out").disabled = min <= 0 && max >= this.end),
    });
    this.lists = new Plot(byId("lists"), { height: 190, legend: byId("lists-legend"), options: overTime });
    this.throttled = new Plot(byId("throttled"), { height: 60, options: spans });
    this.percentiles = new Plot(byId("latency"), { height: 260, legend: byId("latency-legend"), options: percentiles });
    this.histogram = new Plot(byId("latency"), { height: 260, legend: byId("latency-legend"), options: histograms });
    this.answer = null;
    byId("shown").addEventListener("change", () => this.#drawLatency());
    byId("instant").addEventListener("input", () => this.#goTo());
    byId("zoom-in").addEventListener("click", () => this.#zoom(4));
    byId("zoom-out").addEventListener("click", () => this.#zoom(0));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.answer && this.draw(this.answer));
  }

  draw(answer) {
    this.answer = answer;
    this.end = answer.timeline.time_s.at(-1) || 1;
    this.#drawMemory();
    this.#drawThrottled();
    this.#drawLatency();
    this.#goTo();
  }

  #drawMemory() {
    const { timeline, main } = this.answer;
    const stepped = { isStepped: timeline.is_stepped };
    const lines = (series) => series.map((each) => ({ ...each, ...stepped }));
    const data = (series) => [timeline.time_s, ...series.map((each) => each.values)];
    const shared = { format: size, kind: timeline.is_stepped ? "steps" : "", end: this.end };
    const label = `Over ${seconds(timeline.end_s)}: ${peaks(timeline.memory)}`;
    this.memory.draw(lines(timeline.memory), data(timeline.memory), { ...shared, label });
    if (timeline.lists.length) {
      this.lists.draw(lines(timeline.lists), data(timeline.lists), { ...shared, label: peaks(timeline.lists) });
    } else {
      this.lists.clear();
    }
    const atEnd = Object.entries(timeline.at_end).map(([name, bytes]) => `${name} ${size(bytes)}`).join(", ");
    const none = `${main} has no lists over time; kernel has.${atEnd ? ` At the end: ${atEnd}.` : ""}`;
    byId("lists-none").textContent = timeline.lists.length ? "" : none;
  }

  #drawThrottled() {
    const { processes, left_out: leftOut, colour } = this.answer.throttled;
    const none = byId("throttled-none");
    if (!processes.length) {
      this.throttled.clear();
      none.textContent = this.answer.main === "kernel" ? "Nobody was throttled." : `${this.answer.main} does not tell when writers are throttled; kernel does.`;
      return;
    }
    const totals = (rows) => rows.map((each) => `${each.name} ${seconds(each.total_s)}`).join(", ");
    const more = processes.length - NAMED + leftOut;
    none.textContent = `Longest: ${totals(processes.slice(0, NAMED))}${more > 0 ? `, and ${more} more` : ""}.`;
    const height = 44 + 20 * processes.length;
    const label = `Throttled: ${totals(processes)}`;
    const kind = processes.map((each) => each.name).join();
    const rows = { name: "throttled", colour, width: 0 };
    this.throttled.draw([rows], [[0, this.end], [null, null]], { rows: processes, fill: colour, end: this.end, height, label, kind });
  }

  #drawLatency() {
    const models = this.answer.models;
    const shown = byId("shown").value;
    const [plot, other] = shown === "histogram" ? [this.histogram, this.percentiles] : [this.percentiles, this.histogram];
    other.clear();
    const kinds = models.flatMap((of) => of.latency.kinds.map((kind) => ({ ...kind, of })));
    byId("latency-none").textContent = kinds.length ? models[0].latency.note : "No operation on a file takes time.";
    if (!kinds.length) {
      plot.clear();
      return;
    }
    const lines = kinds.map(({ label, colour, of }) => ({
      name: `${label}, ${of.model}`,
      group: label,
      colour,
      dash: of.dash,
      width: 2,
      isStepped: true,
    }));
    const tables = kinds.map(shown === "histogram" ? bins : (kind) => [kind.curve[0], kind.curve[1].map((at) => at || null)]);
    const most = 2 * Math.max(...kinds.map((kind) => kind.count));
    const label = models[0].latency.kinds.map((kind) => `${kind.label}: half within ${seconds(kind.p50_s)}, 99 % within ${seconds(kind.p99_s)}`).join("; ");
    const samples = models.length > 1 ? models.map((of) => ({ name: of.model, dash: of.dash })) : [];
    plot.draw(lines, uPlot.join(tables), { format: null, label, most, samples });
  }

  /** Moves the cursor to the instant of the slider. */
  #goTo() {
    const plot = this.memory.plot;
    if (!plot) return;
    const { min, max } = plot.scales.x;
    const at = min + ((max - min) * Number(byId("instant").value)) / INSTANTS;
    this.isMoving = true;
    plot.setCursor({ left: plot.valToPos(at, "x"), top: 10 });
    this.isMoving = false;
    byId("instant").setAttribute("aria-valuetext", byId("instant-value").textContent);
  }

  #showInstant(plot, at) {
    if (at === null) return;
    const time = plot.data[0][at];
    byId("instant-value").textContent = `${Number(time.toPrecision(5))} s`;
    const { min, max } = plot.scales.x;
    if (!this.isMoving && max > min) byId("instant").value = String(Math.round((INSTANTS * (time - min)) / (max - min)));
  }

  /** Shows a part of the time around the instant, or all of it. */
  #zoom(factor) {
    const plot = this.memory.plot;
    if (!plot) return;
    const { min, max } = plot.scales.x;
    const middle = plot.data[0][plot.cursor.idx ?? 0];
    const half = (max - min) / 2 / (factor || 1);
    const low = factor ? Math.max(0, Math.min(middle - half, this.end - 2 * half)) : 0;
    const range = { min: low, max: factor ? low + 2 * half : this.end };
    for (const each of [this.memory, this.lists, this.throttled]) each.plot?.setScale("x", range);
    byId("instant").value = String(Math.round((INSTANTS * (middle - range.min)) / (range.max - range.min)));
    this.#goTo();
    if (!factor) byId("zoom-in").focus();
  }
}

function peaks(series) {
  return series.map((each) => `${each.name} up to ${size(each.values.reduce((most, value) => Math.max(most, value), 0))}`).join(", ");
}

/** Gives a histogram as steps: the lower ends of its bins, and percents. */
function bins({ histogram, count }) {
  const first = Math.round(12 * Math.log10(histogram.first_s || 1));
  const edge = (place) => Number((10 ** ((first + place) / 12)).toPrecision(12));
  const edges = [edge(-1), ...histogram.counts.map((_, place) => edge(place)), edge(histogram.counts.length), edge(histogram.counts.length + 1)];
  return [edges, [0, ...histogram.counts.map((each) => (100 * each) / count), 0, 0]];
}
