// The tables of an answer.

import { byId, make } from "./elements.js";
import { colour } from "./plots.js";
import { seconds } from "./units.js";

function fill(table, columns, rows, caption = "") {
  const head = columns.map(([name, kind]) => make("th", { scope: "col", class: kind }, name));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell, place) => {
    const text = typeof cell === "string" ? cell : "";
    const content = make("td", { class: columns[place][1] }, cell ?? "");
    if (columns[place][1] === "path") content.title = text;
    return content;
  })));
  byId(table).replaceChildren(
    ...(caption ? [make("caption", {}, caption)] : []),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

/** Shows the tables of an answer. */
export function showTables(answer) {
  percentiles(answer);
  makespans(answer);
  slowest(answer);
}

function percentiles({ models }) {
  const isSeveral = models.length > 1;
  const names = ["p50", "p90", "p99", "p99_9", "max"];
  const columns = [["operation", ""], ...(isSeveral ? [["model", ""]] : []), ["count", "number"]];
  const labelled = [...new Set(models.flatMap((of) => of.latency.kinds.map((kind) => kind.label)))];
  const rows = labelled.flatMap((label) => models.flatMap((of, place) => {
    const kind = of.latency.kinds.find((each) => each.label === label);
    const first = place === 0 ? label : "";
    const cells = () => [kind.count.toLocaleString("en"), ...names.map((name) => seconds(kind[`${name}_s`]))];
    return kind ? [[first, ...(isSeveral ? [of.model] : []), ...cells()]] : [];
  }));
  const labels = ["median", "90 %", "99 %", "99.9 %", "longest"];
  fill("percentiles", [...columns, ...labels.map((name) => [name, "number"])], rows);
}

function makespans({ models, makespans: { rows, left_out: leftOut } }) {
  const all = { process: "all", count: 1, seconds: models.map((of) => of.end_s) };
  const most = Math.max(...models.map((of) => of.end_s), 1e-12);
  const shown = rows.length > 1 ? [all, ...rows] : rows;
  const columns = [["process", "path"], ["", "bars"], ...models.map((of) => [of.model, "number"])];
  fill(
    "makespans",
    columns,
    shown.map((row) => [row.count > 1 ? `${row.process}, longest of ${row.count}` : row.process, bars(row.seconds, models, most), ...row.seconds.map((time) => (time === null ? "" : seconds(time)))]),
    leftOut ? `${leftOut} more processes take less.` : "",
  );
}

function bars(times, models, most) {
  const place = make("div", { "aria-hidden": "true" });
  times.forEach((time, at) => {
    const bar = make("div", { class: "bar" });
    bar.style.width = `${(100 * (time ?? 0)) / most}%`;
    bar.style.background = colour(models[at].colour);
    place.append(bar);
  });
  return place;
}

function slowest({ slowest: rows }) {
  const columns = [["process", "path"], ["operation", ""], ["path", "path"], ["at", "number"], ["took", "number"], ["mostly", ""], ["of which behind", "path"]];
  fill("slowest", columns, rows.map((row) => [
    row.process,
    row.number === null ? row.operation : `${row.operation}#${row.number}`,
    row.path,
    seconds(row.start_s),
    seconds(row.duration_s),
    `${row.part} ${Math.round((100 * row.part_s) / row.duration_s)} %`,
    row.behind ? `${seconds(row.behind_s)} ${row.behind}, ${row.behind_path}` : "",
  ]));
}
