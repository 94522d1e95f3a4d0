"""A run of a net as one page for the browser."""

import json
from html import escape
from typing import Any, Final

from pagecast.petri.drawing import MOST_LINES, tokens
from pagecast.petri.run import Run, Stepper

__all__ = ["page"]

_PAGE: Final = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>%(title)s</title>
<style>
body { font: 14px sans-serif; margin: 0; color: #222 }
header { position: sticky; top: 0; background: #f4f6f8; border-bottom: 1px solid #ccc; padding: 8px 12px }
button { font: inherit; min-width: 2.4em }
input { width: 40%%; vertical-align: middle }
output { margin-left: 12px; font-variant-numeric: tabular-nums }
main { overflow: auto; padding: 12px }
.node.occurs { stroke: #b3261e; stroke-width: 3.5 }
</style></head><body>
<header>
<button id="first" aria-label="first">|◀</button> <button id="back" aria-label="back">◀</button>
<button id="play" aria-label="play">▶ play</button> <button id="next" aria-label="next">▶</button>
<input id="at" type="range" min="0" max="%(last)d" value="0" aria-label="occurrence">
<output id="what" aria-live="polite"></output>
</header>
<main>%(picture)s</main>
<script>
const steps = %(steps)s, lines = %(lines)d;
const svg = "http://www.w3.org/2000/svg", at = document.getElementById("at");
const places = {}, transitions = {};
function collect(into, name) {
  for (const of of document.querySelectorAll(`[data-${name}]`)) (into[of.dataset[name]] ??= []).push(of);
}
collect(places, "place");
collect(transitions, "transition");
function text(kind, x, y, of) {
  const made = document.createElementNS(svg, "text");
  made.setAttribute("class", kind); made.setAttribute("x", x); made.setAttribute("y", y);
  made.textContent = of;
  return made;
}
function put(place, [count, marking]) {
  for (const of of places[place] ?? []) {
    of.replaceChildren();
    if (!marking.length) continue;
    const x = +of.dataset.x, y = +of.dataset.y, circle = document.createElementNS(svg, "circle");
    circle.setAttribute("class", "tokens");
    circle.setAttribute("cx", x); circle.setAttribute("cy", y); circle.setAttribute("r", 7);
    of.append(circle, text("count", x, y + 3, count));
    marking.slice(0, lines).forEach((line, n) => of.append(text("", x + 10, y - 4 + 12 * n, line)));
  }
}
function show(number) {
  const marking = {};
  for (let n = 0; n <= number; n++) Object.assign(marking, steps[n].marking);
  for (const [place, of] of Object.entries(marking)) put(place, of);
  document.querySelectorAll(".occurs").forEach(of => of.classList.remove("occurs"));
  for (const of of transitions[steps[number].transition] ?? []) of.classList.add("occurs");
  const { transition, binding, time } = steps[number];
  const what = transition ? `: ${transition} ${binding}` : "";
  document.getElementById("what").value = `${number} of ${steps.length - 1}, time ${time}${what}`;
  at.value = number;
}
const go = by => show(Math.min(Math.max(+at.value + by, 0), steps.length - 1));
let timer = 0;
function stop() { clearInterval(timer); timer = 0; document.getElementById("play").textContent = "▶ play"; }
function play() {
  if (timer) return stop();
  if (+at.value == steps.length - 1) show(0);
  document.getElementById("play").textContent = "⏸ pause";
  timer = setInterval(() => +at.value == steps.length - 1 ? stop() : go(1), 600);
}
document.getElementById("first").onclick = () => { stop(); show(0); };
document.getElementById("back").onclick = () => { stop(); go(-1); };
document.getElementById("next").onclick = () => { stop(); go(1); };
document.getElementById("play").onclick = play;
at.oninput = () => { stop(); show(+at.value); };
onkeydown = event => {
  if (event.target === at) return;
  if (event.key == "ArrowRight") { stop(); go(1); }
  if (event.key == "ArrowLeft") { stop(); go(-1); }
};
show(0);
</script></body></html>
"""


def page(
    title: str, picture: str, steppers: tuple[Stepper, Stepper], most: int, until: float | None
) -> tuple[str, Run]:
    """Run a net, and make a page of its first occurrences.

    One run logs all occurrences, and the other one stops after each for its marking.

    Parameters
    ----------
    title : str
    picture : str
        The net as SVG.
    steppers : tuple of Stepper
        Two of one seed, in the initial marking.
    most : int
        So many occurrences.
    until : float or None
        No occurrence after this model time.

    Returns
    -------
    tuple of str and Run
        The page, and the net after these occurrences.
    """
    logging, stopping = steppers
    start = stopping.now()
    before = start.marking
    steps: list[dict[str, Any]] = [_step("", {}, start.time, before)]
    run = logging.run(steps=most, until=until, log=most)
    columns = [run.occurrences[name] for name in ("transition", "binding", "time")]
    for number, (transition, binding, time) in enumerate(zip(*columns, strict=True), 1):
        after = stopping.run(steps=number, until=until).marking
        changed = {place: text for place, text in after.items() if before[place] != text}
        steps.append(_step(transition, binding, time, changed))
        before = after
    # `</` would end the script.
    data = json.dumps(steps, ensure_ascii=False).replace("</", "<\\/")
    parts = {
        "title": escape(title),
        "picture": picture,
        "steps": data,
        "last": len(steps) - 1,
        "lines": MOST_LINES,
    }
    return _PAGE % parts, run


def _step(transition: str, binding: dict[str, Any], time: float, marking: dict[str, str]) -> dict[str, Any]:
    shown = {
        place: [tokens(text), [] if text == "empty" else text.split("++")[:MOST_LINES]]
        for place, text in marking.items()
    }
    values = ", ".join(f"{name}={value}" for name, value in binding.items())
    return {"transition": transition, "binding": values, "time": time, "marking": shown}
