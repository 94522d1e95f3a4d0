// The settings: sliders and choices as the server describes them, and other keys as they are typed.

import { byId, make } from "./elements.js";
import { digits, parse, typed } from "./units.js";

const STEPS = 120;
const isWide = matchMedia("(min-width: 821px)");

/** Gives the values of a slider, ascending: what a step of the keyboard goes through. */
function valuesOf(control) {
  const { low, high, form } = control;
  const present = parse(control.present);
  const values = present === null ? [] : [present];
  const least = low > 0 ? low : high / 2048;
  if (low <= 0) values.push(low);
  for (let step = 0; step <= STEPS; step += 1) {
    const exact = control.is_log ? least * (high / least) ** (step / STEPS) : low + ((high - low) * step) / STEPS;
    const isRatio = form === "number" && !control.is_log;
    const value = isRatio ? Math.round(exact) : Number(digits(exact));
    values.push(control.is_whole ? Math.round(value) : value);
  }
  return [...new Set(values)].sort((a, b) => a - b);
}

function nearest(values, value) {
  let best = 0;
  values.forEach((each, place) => {
    if (Math.abs(each - value) < Math.abs(values[best] - value)) best = place;
  });
  return best;
}

/** The settings of the page. `onChange` is called after each change. */
export class Settings {
  constructor(onChange) {
    this.onChange = onChange;
    this.controls = [];
    this.changed = new Map();
    this.others = [];
    this.described = "";
    byId("reset").addEventListener("click", () => this.reset());
    byId("add").addEventListener("click", () => this.add());
    byId("other").addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.add();
      }
    });
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
  }

  /** Gives what is set, by key, in the order in which it is applied. */
  get values() {
    const set = {};
    const put = (key, value) => {
      delete set[key];
      set[key] = value;
    };
    const override = (text) => put(...split(text));
    for (const control of this.controls) {
      const value = this.changed.get(control.id);
      if (value === undefined) continue;
      if (control.kind === "slider") {
        put(control.key, value);
        control.beside.forEach(override);
      } else {
        control.options.find((option) => option.text === value)?.overrides.forEach(override);
      }
    }
    this.others.forEach(override);
    return set;
  }

  /** Takes the controls of a scenario; changes that were made stay where the control is still there. */
  describe(controls) {
    const described = JSON.stringify(controls);
    if (described === this.described) return;
    this.described = described;
    this.controls = controls;
    const known = new Map(controls.map((control) => [control.id, control]));
    for (const [id, value] of this.changed) {
      if (!known.has(id) || known.get(id).present === value) this.changed.delete(id);
    }
    const open = new Map([...byId("groups").children].map((group) => [group.dataset.name, group.open]));
    const groups = Map.groupBy ? Map.groupBy(controls, (control) => control.group) : grouped(controls);
    byId("groups").replaceChildren(
      ...[...groups].map(([name, inside]) => {
        const count = make("span", { class: "count" });
        const details = make("details", { class: "group" }, make("summary", {}, `${name} `, count));
        details.dataset.name = name;
        details.open = open.get(name) ?? (isWide.matches ? !/^(Process|Mount|Server)/.test(name) : name === controls[0].group);
        details.append(...inside.map((control) => this.#row(control)));
        return details;
      }),
    );
    this.#mark();
  }

  reset() {
    this.changed.clear();
    this.others = [];
    const described = this.controls;
    this.described = "";
    this.describe(described);
    this.#listOthers();
    this.onChange();
  }

  add() {
    const text = byId("other").value.trim();
    if (!text) return;
    const [key] = split(text);
    this.others = [...this.others.filter((each) => split(each)[0] !== key), text];
    byId("other").value = "";
    this.#listOthers();
    this.onChange();
  }

  #listOthers() {
    byId("others").replaceChildren(
      ...this.others.map((text) => {
        const remove = make("button", { type: "button", class: "undo", "aria-label": `Remove ${text}` }, "remove");
        remove.addEventListener("click", () => {
          this.others = this.others.filter((each) => each !== text);
          this.#listOthers();
          byId("other").focus();
          this.onChange();
        });
        return make("li", {}, make("span", {}, text), remove);
      }),
    );
    this.#mark();
  }

  #change(control, value, row) {
    if (value === undefined || value === control.present) this.changed.delete(control.id);
    else this.changed.set(control.id, value);
    row.show();
    this.#mark();
    this.onChange();
  }

  #mark() {
    byId("reset").disabled = this.changed.size + this.others.length === 0;
    for (const group of byId("groups").children) {
      const count = group.querySelectorAll(".control.changed").length;
      group.querySelector(".count").textContent = count ? `(${count} changed)` : "";
    }
  }

  #row(control) {
    const was = make("span", { class: "was" });
    const undo = make("button", { type: "button", class: "undo", "aria-label": `Reset ${control.label}` }, "reset");
    const id = `control-${this.controls.indexOf(control)}`;
    const name = make("label", { for: id }, control.label);
    const row = make("div", { class: "control" }, make("div", { class: "name" }, name, was));
    row.dataset.id = control.id;
    undo.addEventListener("click", () => {
      this.#change(control, undefined, row);
      byId(id).focus();
    });
    const body = control.kind === "slider" ? this.#slider(control, id, row) : this.#choice(control, id, row);
    row.append(body.element);
    row.show = () => {
      const value = this.changed.get(control.id);
      row.classList.toggle("changed", value !== undefined);
      was.replaceChildren(...(value === undefined ? [] : [`was ${control.present ?? (control.kind === "slider" ? "not set" : "as it is")} `, undo]));
      body.show(value ?? control.present);
    };
    row.show();
    return row;
  }

  #slider(control, id, row) {
    const values = valuesOf(control);
    const range = make("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 });
    const text = make("input", { type: "text", "aria-label": `${control.label}, as a value`, autocomplete: "off" });
    text.spellcheck = false;
    text.placeholder = "not set";
    range.addEventListener("input", () => {
      const value = values[Number(range.value)];
      const isPresent = control.present !== null && value === parse(control.present);
      this.#change(control, isPresent ? control.present : typed(value, control.form), row);
    });
    text.addEventListener("change", () => {
      this.#change(control, text.value.trim() || undefined, row);
    });
    const unit = make("span", { class: control.unit.length > 4 ? "unit long" : "unit" }, control.unit);
    return {
      element: make("div", { class: "row" }, range, text, ...(control.unit ? [unit] : [])),
      show(value) {
        const number = parse(value);
        range.classList.toggle("unset", value === null);
        range.value = String(number === null ? Math.floor(values.length / 2) : nearest(values, number));
        text.value = value ?? "";
        range.setAttribute("aria-valuetext", value === null ? "not set" : `${value} ${control.unit}`.trim());
      },
    };
  }

  #choice(control, id, row) {
    const select = make("select", { id }, make("option", { value: "" }, `as it is${control.present ? ` (${control.present})` : ""}`));
    select.append(...control.options.map((option) => make("option", { value: option.text }, option.text)));
    select.addEventListener("change", () => this.#change(control, select.value || undefined, row));
    return {
      element: make("div", { class: "row" }, select),
      show(value) {
        select.value = value === control.present ? "" : (value ?? "");
      },
    };
  }
}

/** Splits KEY=VALUE at the first `=` outside of quotes. */
function split(text) {
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "=") return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  }
  return [text, ""];
}

function grouped(controls) {
  const groups = new Map();
  for (const control of controls) groups.set(control.group, [...(groups.get(control.group) ?? []), control]);
  return groups;
}
