// The page: asks for a forecast after each change, and shows it.

import { makeAsk, post, revision } from "./asking.js";
import { Settings } from "./controls.js";
import { byId, make } from "./elements.js";
import { Pictures } from "./pictures.js";
import { showTables } from "./tables.js";

const LOOK_MS = 1000;
const SLOW_MS = 400;
const RIVALS = ["no-cache", "endless-cache"];

let known = "";
let seen = null;
let isGone = false;
let slow = 0;

const pictures = new Pictures();
const settings = new Settings(() => ask());
const ask = makeAsk(question, show, busy, failed);

function question() {
  const model = byId("model").value;
  const rivals = RIVALS.filter((name) => byId(name).checked && name !== model);
  return { set: settings.values, models: model ? [model, ...rivals] : [], host: byId("host").value || null, known };
}

function show(answer, began) {
  isGone = false;
  seen = answer.revision ?? seen;
  byId("scenario").textContent = answer.scenario ?? byId("scenario").textContent;
  document.title = `${byId("scenario").textContent}, pagecast studio`;
  if (answer.controls) {
    known = answer.revision;
    settings.describe(answer.controls);
    offerModels(answer);
  }
  showError(answer.error);
  if (!answer.error) {
    offerHosts(answer.timeline);
    pictures.draw(answer);
    showTables(answer);
    byId("notes").textContent = answer.notes.join("\n");
  }
  requestAnimationFrame(() => setTimeout(() => {
    const took = Math.round(performance.now() - began);
    const operations = answer.models?.[0].operations.toLocaleString("en");
    byId("took").textContent = answer.error ? "" : `${operations} operations, from the change to this page ${took} ms`;
    document.documentElement.dataset.took = took;
    document.documentElement.dataset.shown = Number(document.documentElement.dataset.shown ?? 0) + 1;
  }));
}

function offerModels({ choices, main, rivals }) {
  const select = byId("model");
  const before = select.value;
  select.replaceChildren(...choices.map((name) => make("option", { value: name }, name)));
  select.value = choices.includes(before) ? before : (main ?? choices[0]);
  if (!before) RIVALS.forEach((name) => (byId(name).checked = rivals?.includes(name) ?? false));
}

function offerHosts({ hosts, host }) {
  byId("host-choice").hidden = hosts.length < 2;
  const select = byId("host");
  if ([...select.options].map((each) => each.value).join("\n") !== hosts.join("\n")) {
    select.replaceChildren(...hosts.map((name) => make("option", { value: name }, name)));
  }
  select.value = host;
}

function showError(error) {
  const place = byId("error");
  place.hidden = !error;
  byId("pictures").classList.toggle("stale", Boolean(error));
  if (!error) {
    place.textContent = "";
    return;
  }
  const where = error.file ? `${error.file}${error.line ? `, line ${error.line}` : ""}: ` : "";
  const last = pictures.answer ? "\nBelow is the last forecast that worked." : "";
  place.textContent = `${where}${error.message}${last}`;
}

function busy(isBusy) {
  clearTimeout(slow);
  if (isBusy) {
    slow = setTimeout(() => {
      byId("pictures").classList.add("busy");
      byId("took").textContent = "simulating …";
    }, SLOW_MS);
  } else {
    byId("pictures").classList.remove("busy");
  }
}

function failed(error) {
  if (!(error instanceof TypeError)) {
    showError({ message: error.message });
    return;
  }
  isGone = true;
  showError({ message: "The server does not answer. Start `pagecast studio` again, and open the address that it prints." });
}

function say(text) {
  byId("notice").textContent = text;
}

async function copy(what, name) {
  try {
    const { text, error } = await post(`api/copy/${what}`, question());
    if (error) {
      say(`Not copied: ${error.message}`);
      return;
    }
    try {
      await navigator.clipboard.writeText(text);
      say(`Copied ${name}: ${text.length < 200 ? text : `${text.split("\n").length} lines`}`);
    } catch {
      byId("copied-text").value = text;
      byId("copied").showModal();
      byId("copied-text").select();
    }
  } catch (error) {
    failed(error);
  }
}

/** Looks whether the scenario has changed on the disk. */
async function look() {
  try {
    const now = await revision();
    if (isGone || (seen !== null && now !== seen)) {
      if (!isGone) say(`${byId("scenario").textContent} changed on the disk at ${new Date().toLocaleTimeString()} and was taken up.`);
      seen = now;
      ask();
    }
  } catch (error) {
    if (!isGone) failed(error);
  }
  setTimeout(look, LOOK_MS);
}

byId("copy-toml").addEventListener("click", () => copy("toml", "the scenario with these settings"));
byId("copy-command").addEventListener("click", () => copy("command", "the command"));
byId("copied-close").addEventListener("click", () => byId("copied").close());
for (const id of ["model", "host", ...RIVALS]) byId(id).addEventListener("change", () => ask());
ask();
setTimeout(look, LOOK_MS);
