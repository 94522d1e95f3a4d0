// Reads and writes quantities as a scenario has them: "64 GB", "450 MB/s", "30 s", "128".

const SIZES = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
const TIMES = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
const DECIMAL = [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]];

/** Gives a number in base units, or null if the text is no quantity. */
export function parse(text) {
  const match = /^\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$/.exec(text ?? "");
  if (!match) return null;
  const unit = match[2].replace(/\/s$/, "");
  const factor = unit === "" || unit === "%" ? 1 : SIZES[unit] ?? TIMES[unit];
  return factor === undefined ? null : Number(match[1].replaceAll("_", "")) * factor;
}

/** Gives a number with three significant digits, without an exponent. */
export function digits(value, count = 3) {
  return String(Number(value.toPrecision(count)));
}

/** Gives a value as it is typed into a scenario; `form` is size, rate, time or number. */
export function typed(value, form) {
  if (form === "size" || form === "rate") return size(value) + (form === "rate" ? "/s" : "");
  if (form === "time") return seconds(value).replace("µs", "us");
  return digits(value, 6);
}

/** Gives bytes with their unit. */
export function size(bytes) {
  const [unit, scale] = DECIMAL.find(([, least]) => Math.abs(bytes) >= least) ?? ["B", 1];
  return `${digits(bytes / scale)} ${unit}`;
}

/** Gives a time with its unit. */
export function seconds(time) {
  if (time === 0) return "0 s";
  if (time >= 1) return `${time >= 1000 ? Math.round(time) : digits(time)} s`;
  const [unit, scale] = [["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]].find(([, least]) => time >= 0.9995 * least) ?? ["ns", 1e-9];
  return `${digits(time / scale)} ${unit}`;
}
