"""The page in a real browser: every control, keys alone, errors, sizes, several pages, many operations."""

import itertools
import json
import shlex
import tomllib

import pytest

import pagecast as pc
from pagecast.studio.session import Session
from tests.studio.conftest import Studio
from tests.unit.studio.conftest import SCENARIO, serving

MANY = """\
models = ["kernel"]
[machine]
from = "wrench-cluster"
[[process]]
name = "app"
do = [ { repeat = 5000, do = [ { write = "/data/x", size = "1 MB" }, { sleep = "1 ms" } ] } ]
[[process]]
name = "other"
do = [ { repeat = 5000, do = [ { write = "/data/y", size = "64 kB" }, { fsync = "/data/y" } ] } ]
"""

LONG = """\
models = ["kernel"]
[parameter]
rounds = 1
[machine]
from = "wrench-cluster"
[[process]]
name = "app"
do = [ { repeat = "{rounds}", do = [ { repeat = 100000, do = [ { write = "/data/x", size = "1 MB" } ] } ] } ]
"""

PAINTED = """(selector) => { const canvas = document.querySelector(`${selector} canvas`);
const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
const colours = new Set(new Uint32Array(data.buffer)); return colours.size; }"""


VALUE = "document.querySelector('{} input[type=text]').value"
LOOK = "((selector) => document.querySelector(`${selector} canvas`).toDataURL())"


def is_painted(studio, selector):
    return studio.page.ask(f"({PAINTED})('{selector}')") > 20


def controls(studio):
    found = "[...document.querySelectorAll('.control')].map((row) => row.dataset.id)"
    return studio.page.ask(found)


def open_all(studio):
    studio.page.ask("document.querySelectorAll('details').forEach((each) => (each.open = true))")


def row(name):
    return f".control[data-id={json.dumps(name)}]"


def test_the_forecast_is_drawn(studio):
    for place in ("#memory", "#throttled", "#lists", "#latency"):
        assert is_painted(studio, place), place
        assert studio.page.ask(f"document.querySelector('{place}').ariaLabel"), place
    result = pc.simulate(pc.Scenario.load(studio.path), model="kernel")
    assert f"{result.end_s:.3g} s" in studio.rows("makespans")[1]
    assert studio.page.text("#scenario") == "scenario0.toml"
    assert "operations" in studio.page.text("#took")
    assert studio.error == ""


def test_every_control_changes_the_forecast_and_goes_back(studio):
    open_all(studio)
    for name in controls(studio):
        before = studio.page.ask(f"document.querySelector({json.dumps(row(name))}).innerText")
        target = f"{row(name)} :is(input[type=range], select)"
        studio.page.ask(f"document.querySelector({json.dumps(target)}).focus()")
        if studio.page.ask("document.activeElement.tagName") == "SELECT":
            studio.after(studio.page.press, "ArrowDown")
        else:
            is_last = studio.page.ask("document.activeElement.value === document.activeElement.max")
            studio.after(studio.page.press, "ArrowLeft" if is_last else "ArrowRight")
        assert studio.page.ask(f"document.querySelector({json.dumps(row(name))}).matches('.changed')"), name
        assert studio.error == "", name
        studio.after(studio.page.click, f"{row(name)} .undo")
        assert studio.page.ask(f"document.querySelector({json.dumps(row(name))}).innerText") == before
    assert studio.page.ask("document.getElementById('reset').disabled")


def test_a_value_is_typed_and_everything_is_reset(studio):
    name = "machine.memory.size"
    studio.page.click(f"{row(name)} input[type=text]")
    studio.page.type("2 GB")
    studio.after(studio.page.press, "Enter")
    wanted = pc.simulate(pc.Scenario.load(studio.path, set=[f"{name}=2 GB"]), model="kernel")
    assert f"{wanted.end_s:.3g} s" in studio.rows("makespans")[1]
    place = f"document.querySelector('{row(name)} input[type=range]').ariaValueText"
    assert studio.page.ask(place) == "2 GB"
    studio.set_other("machine.cores=2")
    studio.after(studio.page.click, "#reset")
    assert studio.page.ask("document.querySelectorAll('.changed, #others li').length") == 0


def test_a_wrong_value_keeps_the_last_forecast_grey(studio):
    before = studio.rows("makespans")
    studio.page.click(f"{row('machine.memory.size')} input[type=text]")
    studio.page.type("much")
    studio.after(studio.page.press, "Enter")
    assert "--set machine.memory.size=much" in studio.error
    assert studio.page.ask("document.getElementById('pictures').matches('.stale')")
    assert studio.rows("makespans") == before
    studio.after(studio.page.click, "#reset")
    assert studio.error == ""
    assert not studio.page.ask("document.getElementById('pictures').matches('.stale')")


def test_other_keys_are_set_and_removed(studio):
    studio.set_other('process."writer{n}".count=1')
    assert "writer1" in [cells[0] for cells in studio.rows("makespans")]
    studio.set_other('process."writer{n}".count=3')
    assert studio.page.ask("document.querySelectorAll('#others li').length") == 1
    assert "writer{n}, longest of 3" in [cells[0] for cells in studio.rows("makespans")]
    studio.set_other("machine.corse=2")
    assert "did you mean" in studio.error
    studio.after(studio.page.click, "#others li:last-child button")
    assert studio.error == ""
    studio.page.click("#other")
    studio.page.type("machine.cores=1")
    studio.after(studio.page.click, "#add")
    assert studio.page.text("#others").count("remove") == 2


def test_rivals_and_models_are_chosen(studio):
    assert studio.rows("makespans")[0][2:] == ["kernel", "no-cache", "endless-cache"]
    studio.after(studio.page.click, "#no-cache")
    assert studio.rows("makespans")[0][2:] == ["kernel", "endless-cache"]
    studio.after(studio.page.click, "#endless-cache")
    assert studio.rows("makespans")[0][2:] == ["kernel"]
    studio.after(studio.page.click, "#endless-cache")
    studio.page.ask("document.getElementById('model').focus()")
    studio.after(studio.page.press, "ArrowDown")
    assert studio.rows("makespans")[0][2:] == ["wrench", "endless-cache"]
    assert "wrench does not tell" in studio.page.text("#throttled-none")
    assert "wrench has no lists" in studio.page.text("#lists-none")


def test_legends_show_and_hide_lines(studio):
    for place in ("memory", "lists", "latency"):
        button, look = f"#{place}-legend li:first-child button", f"{LOOK}('#{place}')"
        before = studio.page.ask(look)
        studio.page.click(button)
        assert studio.page.ask(f"document.querySelector('{button}').ariaPressed") == "false"
        studio.page.wait(f"{look} != '{before}'")
        studio.page.click(button)
        studio.page.wait(f"{look} == '{before}'")


def test_latency_is_shown_as_a_histogram(studio):
    percentiles = studio.page.ask(f"{LOOK}('#latency')")
    studio.page.ask("shown.focus()")
    studio.page.press("ArrowDown")
    studio.page.wait(f"shown.value == 'histogram' && {LOOK}('#latency') != '{percentiles}'")
    assert studio.page.ask("document.querySelectorAll('#latency canvas').length") == 1


def test_the_instant_tells_values_and_the_mouse_moves_it(studio):
    studio.page.ask("instant.focus()")
    studio.page.press("End")
    end_s = float(studio.page.text("#instant-value").split()[0])
    result = pc.simulate(pc.Scenario.load(studio.path), model="kernel")
    assert end_s == pytest.approx(result.end_s, rel=1e-4)
    assert studio.page.text("#memory-legend .value") == "3.94 GB"
    studio.page.point("#memory .u-over", 0.25)
    studio.page.wait(f"Math.abs(parseFloat(instant.value) - 250) < 20 || '{end_s}' == ''")
    assert float(studio.page.text("#instant-value").split()[0]) < end_s


def test_time_is_zoomed_by_buttons_and_by_the_mouse(studio):
    studio.page.ask("instant.focus()")
    studio.page.press("ArrowRight", 5)
    studio.page.click("#zoom-in")
    assert not studio.page.ask("document.getElementById('zoom-out').disabled")
    studio.page.click("#zoom-out")
    assert studio.page.ask("document.getElementById('zoom-out').disabled")
    studio.page.drag("#memory .u-over", 0.2, 0.5)
    studio.page.wait("!document.getElementById('zoom-out').disabled")
    studio.page.click("#zoom-out")
    studio.page.wait("document.getElementById('zoom-out').disabled")


def copied(studio, button):
    """Press a button that copies, and read the clipboard."""
    for name in ("clipboard-read", "clipboard-write"):
        studio.page.call("Browser.setPermission", permission={"name": name}, setting="granted")
    studio.page.ask("notice.textContent = ''")
    studio.page.click(button)
    studio.page.wait("notice.textContent.startsWith('Copied')")
    return studio.page.ask("navigator.clipboard.readText()")


def test_settings_are_copied(studio):
    studio.page.ask(f"document.querySelector('{row('machine.vm.dirty_ratio')} input').focus()")
    studio.after(studio.page.press, "ArrowRight", 3)
    studio.page.wait(f"{VALUE.format(row('machine.vm.dirty_ratio'))} == '23'")
    words = shlex.split(copied(studio, "#copy-command"))
    assert words[-2:] == ["--set", "machine.vm.dirty_ratio=23"]
    assert words[:3] == ["pagecast", "simulate", str(studio.path)]
    text = copied(studio, "#copy-toml")
    assert tomllib.loads(text)["machine"]["vm"]["dirty_ratio"] == 23
    studio.after(studio.path.write_text, text)
    studio.page.wait("document.querySelectorAll('.changed').length == 0")


def test_text_is_shown_where_the_browser_copies_nothing(studio):
    studio.page.ask("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    studio.page.click("#copy-command")
    studio.page.wait("copied.open")
    text = studio.page.ask("document.activeElement.value")
    assert text.startswith("pagecast simulate")
    studio.page.press("Escape")
    studio.page.wait("!copied.open")


@pytest.mark.parametrize("width", [400, 700, 1000, 1800])
def test_the_page_fits_every_width(studio, width):
    studio.page.resize(width, 800)
    studio.page.wait(
        "[...document.querySelectorAll('.plot')].every((plot) => !plot.firstChild || "
        "Math.abs(plot.clientWidth - plot.firstChild.clientWidth) < 2)"
    )
    assert studio.page.ask("document.documentElement.scrollWidth") <= width
    assert is_painted(studio, "#memory")


def test_a_dark_page(studio):
    light = studio.page.ask("getComputedStyle(document.body).backgroundColor")
    studio.page.prefer("dark")
    studio.page.wait(f"getComputedStyle(document.body).backgroundColor != '{light}'")
    assert is_painted(studio, "#memory")


def test_a_changed_file_is_taken_up(studio):
    studio.page.ask(f"document.querySelector('{row('machine.memory.size')} input').focus()")
    studio.after(studio.page.press, "ArrowRight")
    studio.after(studio.path.write_text, SCENARIO.replace("count = 2", "count = 4"))
    assert "changed on the disk" in studio.page.text("#notice")
    assert "writer{n}, longest of 4" in [cells[0] for cells in studio.rows("makespans")]
    assert studio.page.ask(f"document.querySelector('{row('machine.memory.size')}').matches('.changed')")


def test_a_scenario_with_an_error_says_where(studio):
    studio.after(studio.path.write_text, SCENARIO.replace("dirty_ratio", "dirty_ration"))
    assert studio.error.startswith("scenario0.toml, line 9: ")
    assert "did you mean `dirty_ratio`" in studio.error
    assert "the last forecast that worked" in studio.error
    assert studio.page.ask("document.getElementById('pictures').matches('.stale')")
    studio.after(studio.path.unlink)
    assert "there is no such file" in studio.error
    studio.after(studio.path.write_text, SCENARIO)
    assert studio.error == ""


def test_a_scenario_that_is_wrong_from_the_start_is_mended(open_studio):
    studio = open_studio("models = [\n")
    assert studio.error.startswith("scenario0.toml, line 1: ")
    studio.after(studio.path.write_text, SCENARIO)
    assert studio.error == ""
    assert is_painted(studio, "#memory")
    assert studio.page.messages == []


def test_ten_thousand_operations(open_studio):
    studio = open_studio(MANY)
    assert studio.page.text("#took").startswith("20,000 operations")
    assert is_painted(studio, "#memory")
    assert [cells[1] for cells in studio.rows("percentiles")[1:]] == ["5,000", "5,000", "5,000"]
    studio.page.ask(f"document.querySelector('{row('machine.vm.dirty_ratio')} input').focus()")
    studio.after(studio.page.press, "ArrowRight")
    assert studio.page.messages == []


def focused(studio):
    return studio.page.ask(
        """(({tagName, id, className, textContent, ariaLabel, dataset}) => [tagName, id || ariaLabel ||
        textContent.trim().slice(0, 30)].join(" "))(document.activeElement)"""
    )


def test_keys_reach_everything(studio):
    open_all(studio)
    wanted = studio.page.ask(
        """[...document.querySelectorAll("button, input, select, summary, a")].filter((each) =>
        !each.disabled && each.checkVisibility()).length"""
    )
    studio.page.ask("document.body.focus()")
    seen = []
    for _ in range(wanted + 10):
        studio.page.press("Tab")
        seen.append(focused(studio))
        if seen[-1].startswith("BODY"):
            break
        assert studio.page.ask("getComputedStyle(document.activeElement).outlineStyle") != "none", seen[-1]
    assert len([each for each in seen if not each.startswith(("BODY", "DIV"))]) == wanted
    names = {name for name, _ in itertools.groupby(seen)}
    assert {"SELECT model", "INPUT no-cache", "BUTTON copy-toml", "INPUT control-0", "INPUT instant"} <= names


def test_a_session_with_keys_alone(studio):
    studio.page.ask("document.body.focus()")

    def tab_to(name):
        for _ in range(200):
            if focused(studio) == name:
                return
            studio.page.press("Tab")
        raise AssertionError(name)

    tab_to("INPUT no-cache")
    studio.after(studio.page.press, "Space")
    assert studio.rows("makespans")[0][2:] == ["kernel", "endless-cache"]
    tab_to("INPUT control-0")
    studio.after(studio.page.press, "ArrowLeft", 3)
    studio.page.press("Tab")
    studio.page.type("3 GB")
    studio.after(studio.page.press, "Enter")
    tab_to("INPUT other")
    studio.page.type("machine.cores=2")
    studio.after(studio.page.press, "Enter")
    tab_to("INPUT instant")
    studio.page.press("ArrowRight", 2)
    tab_to("BUTTON zoom-in")
    studio.page.press("Enter")
    tab_to("BUTTON reset")
    studio.after(studio.page.press, "Enter")
    assert studio.page.ask("document.querySelectorAll('.changed, #others li').length") == 0


def test_labels_for_screen_readers(studio):
    open_all(studio)
    nameless = studio.page.ask(
        """[...document.querySelectorAll("input, select, textarea")].filter((each) =>
        !each.labels.length && !each.ariaLabel).map((each) => each.outerHTML)"""
    )
    assert nameless == []
    tree = studio.page.call("Accessibility.getFullAXTree")["nodes"]
    roles = ("slider", "button", "textbox", "combobox", "checkbox", "image", "region")
    for node in tree:
        if node.get("role", {}).get("value") in roles and not node.get("ignored"):
            assert node.get("name", {}).get("value"), node


def test_two_pages_at_once(browser, tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    with serving(Session(path)) as server:
        pages = [browser.open(server.address) for _ in range(2)]
        studios = [Studio(page, path, server.address) for page in pages]
        for studio, cores in zip(studios, (1, 3), strict=True):
            studio.page.ask("other.focus()")
            studio.page.type(f"machine.cores={cores}")
        before = [studio.shown for studio in studios]
        for page in pages:
            page.press("Enter")
        for studio, cores, shown in zip(studios, (1, 3), before, strict=True):
            studio.wait_shown(shown)
            assert studio.page.text("#others") == f"machine.cores={cores}remove"
            assert studio.page.messages == []
            studio.page.close()


def test_the_newest_change_wins(open_studio):
    studio = open_studio(LONG)
    end = studio.rows("makespans")
    studio.page.ask("other.focus()")
    studio.page.type("parameter.rounds=1000000")
    studio.page.press("Enter")
    studio.page.wait("document.getElementById('took').textContent == 'simulating …'")
    studio.after(studio.page.click, "#reset")
    assert studio.rows("makespans") == end
    studio.page.ask("document.querySelector('.control input').focus()")
    studio.page.press("ArrowRight", 30)
    value = studio.page.ask("document.querySelector('.control input[type=text]').value")
    memory = pc.simulate(pc.Scenario.load(studio.path, set=[f"machine.memory.size={value}"]), model="kernel")
    studio.page.wait(f"document.querySelector('#makespans').textContent.includes('{memory.end_s:.3g} s')")
    assert studio.page.messages == []


def test_a_server_that_has_ended_is_said(browser, tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    with serving(Session(path)) as server:
        page = browser.open(server.address)
        page.wait("document.documentElement.dataset.shown")
    page.wait("error.textContent.startsWith('The server does not answer')")
    page.close()
