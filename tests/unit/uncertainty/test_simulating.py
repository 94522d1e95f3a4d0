"""Forecasts with ranges: what must be true of them, whatever the numbers."""

import numpy as np
import pytest

import pagecast as pc
from pagecast import api
from pagecast.errors import ArgumentError, ArgumentTypeError, SimulationError
from pagecast.measures import parse_measure
from pagecast.uncertainty.figures import figures_for, figures_of
from pagecast.uncertainty.model_error import ModelError
from pagecast.uncertainty.simulating import with_ranges

MACHINE = """\
cores = 2
memory = { size = "1 GB", read = "4000 MB/s", write = "2000 MB/s" }
vm = { dirty_bytes = "100 MB", dirty_background_bytes = "50 MB" }
disk.ssd = { size = "90 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""

PROGRAMS = """
[[process]]
name = "backup"
do = [ { write = "/data/copy", size = "600 MB", call = "1 MiB" } ]
[[process]]
name = "db"
do = [ { repeat = 12, do = [
  { write = "/data/db", size = "8 KiB" }, { fsync = "/data/db" }, { sleep = "50 ms" },
] } ]
"""

EXACT = ModelError(())


def scenario(spread="10 %", machine=MACHINE, programs=PROGRAMS):
    ranges = (
        f'\nuncertainty = {{ "disk.ssd.write" = "{spread}", "memory.write" = "{spread}" }}' if spread else ""
    )
    lines = "".join(f"machine.{line}\n" for line in f"{machine}{ranges}".splitlines() if line)
    return pc.Scenario.from_toml(f"{lines}{programs}")


def ranges(of, draws=20, *, error=EXACT, seed=0, threads=None):
    forecast = api.simulate(of, seed=seed)
    return with_ranges(of, forecast, draws, error=error, threads=threads)


def plain(result):
    return [table.to_dict() for table in (result.ranges, result.level_bands, result.latency_bands)]


def test_the_same_seed_gives_the_same_on_any_number_of_threads():
    of = scenario()
    assert plain(ranges(of, threads=1)) == plain(ranges(of, threads=2)) == plain(ranges(of))


def test_another_seed_draws_others():
    assert plain(ranges(scenario(), seed=1)) != plain(ranges(scenario()))


def test_exact_values_give_the_forecast_itself():
    table = ranges(scenario(spread=None)).ranges
    for name in ("median", "low", "high"):
        assert table[name].tolist() == pytest.approx(table["forecast"].tolist(), rel=1e-12), name


def test_a_range_holds_the_forecast_where_the_error_is_centred():
    table = ranges(scenario(), 50).ranges
    row = table["measure"].index("makespan")
    assert table["low"][row] < table["forecast"][row] < table["high"][row]


def test_a_wider_spread_gives_a_wider_range():
    widths = []
    for spread in ("2 %", "10 %", "40 %"):
        table = ranges(scenario(spread), 30).ranges
        widths.append(table["high"][0] - table["low"][0])
    assert widths == sorted(widths)
    assert widths[0] > 0


def test_the_error_of_the_model_widens_times_and_no_levels():
    from pagecast.uncertainty.model_error import Learned

    of = scenario(spread=None)
    errors = [(str(number), error) for number, error in enumerate(np.linspace(-0.2, 0.2, 50))]
    error = ModelError((Learned.of("p", "synchronous", errors), Learned.of("p", "buffered_write", errors)))
    table = ranges(of, 50, error=error).ranges
    width = dict(zip(table["measure"], (table["high"] - table["low"]) / table["forecast"], strict=True))
    assert width["sum(db fsync)"] == pytest.approx(2 * 0.18, rel=0.05)
    assert width["peak(dirty)"] == 0


def test_what_sleeps_is_off_by_its_io_alone():
    from pagecast.uncertainty.model_error import Learned

    programs = '[[process]]\nname = "a"\ndo = [ { write = "/data/f", size = "8 MB" }, { sleep = "10 s" } ]\n'
    errors = [(str(number), error) for number, error in enumerate(np.linspace(-0.2, 0.2, 50))]
    error = ModelError((Learned.of("p", "buffered_write", errors),))
    table = ranges(scenario(None, programs=programs), 50, error=error).ranges
    assert (table["high"][0] - table["low"][0]) / table["forecast"][0] < 0.001


def test_bytes_are_conserved_in_each_draw():
    from pagecast.uncertainty.draws import scalings

    of = scenario("40 %")
    whole = api.simulate(of).latency["bytes"].sum()
    for factors in scalings(of.uncertainty, of.hosts, 10, 0):
        assert api.simulate(of.scaled(factors)).latency["bytes"].sum() == whole


def test_figures_are_those_of_processes_operations_and_levels():
    names = ranges(scenario()).ranges["measure"]
    assert {"makespan", "makespan(db)", "sum(backup write)", "p99(db fsync)", "peak(dirty)"} <= set(names)
    assert "sum(db sleep)" not in names


def test_of_many_processes_there_are_figures_of_all_together():
    copies = '[[process]]\nname = "app{n}"\ncount = 30\ndo = [ { write = "/data/f{n}", size = "1 MB" } ]\n'
    names = ranges(scenario(programs=copies), 4).ranges["measure"]
    assert names[0] == "makespan"
    assert "sum(* write)" in names
    assert len(names) < 12


def test_bands_hold_the_forecast():
    result = ranges(scenario(), 50)
    bands = result.level_bands
    assert (bands["dirty_low_bytes"] <= bands["dirty_high_bytes"]).all()
    assert bands["dirty_high_bytes"].max() > 50e6
    latency = result.latency_bands
    assert set(latency["operations"]) == {"backup  write", "db  fsync", "db  write"}
    known = ~np.isnan(latency["low_s"])
    assert (latency["low_s"][known] <= latency["high_s"][known]).all()


def test_a_result_without_draws_has_no_ranges():
    result = pc.simulate(scenario())
    assert (len(result.ranges), len(result.level_bands), result.drawn) == (0, 0, None)
    assert "ranges" not in result.tables
    assert "uncertain" not in result.to_dict()


def test_python_gives_the_ranges_too():
    told = []
    result = pc.simulate(scenario(), uncertain=10, progress=lambda done, time_s: told.append(done))
    assert result.drawn.draws == 10
    assert result.to_dict()["uncertain"]["values"] == 2
    assert {"ranges", "level_bands", "latency_bands"} <= set(result.tables)
    assert told[-1] == 1


def test_programs_in_python_are_drawn_one_by_one():
    calls = []

    def app():
        calls.append(1)
        yield pc.write("/data/f", size_bytes=1e6)

    machine = pc._core.Machine.from_toml(
        f'{MACHINE}uncertainty = {{ "memory.write" = "5 %" }}\n'.encode(), "m", base_dir=".", machine_dir="."
    )
    result = pc.simulate(pc.Scenario(machine, processes={"app": app}), uncertain=6)
    assert result.drawn.values == 1
    assert len(calls) >= 7


@pytest.mark.parametrize("draws", [0, 1, -5, 10**9])
def test_too_few_or_too_many_draws_are_refused(draws):
    with pytest.raises(ArgumentError, match="uncertain="):
        pc.simulate(scenario(), uncertain=draws)


def test_draws_are_a_whole_number():
    with pytest.raises(ArgumentTypeError, match="uncertain="):
        pc.simulate(scenario(), uncertain=2.5)


def test_other_models_have_ranges_of_the_machine_alone():
    result = pc.simulate(scenario(), model="wrench", uncertain=10)
    assert (result.drawn.cases, result.drawn.platforms) == (0, 0)
    assert result.ranges["high"][0] > result.ranges["low"][0]


def test_draws_that_cannot_go_on_are_counted():
    # The program needs nearly all the memory: in a smaller one it does not find it.
    programs = (
        '[[process]]\nname = "a"\ndo = [ { alloc = "900 MB" }, { write = "/data/f", size = "1 MB" } ]\n'
    )
    of = scenario(None, f'{MACHINE}uncertainty = {{ "memory.size" = "8 %" }}\n', programs)
    result = ranges(of, 40)
    assert 0 < result.drawn.failed < 20
    assert "memory" in result.drawn.first_failure


def test_a_scenario_that_mostly_fails_has_no_ranges():
    programs = '[[process]]\nname = "a"\ndo = [ { alloc = "900 MB" } ]\n'
    of = scenario(None, f'{MACHINE}uncertainty = {{ "memory.size" = "30 %" }}\n', programs)
    forecast = api.simulate(of)

    class Shrunk:
        """The same scenario; every draw has half of its memory."""

        uncertainty, hosts, machine, toml = of.uncertainty, of.hosts, of.machine, of.toml

        def scaled(self, factors):
            return of.scaled([(host, key, 0.5) for host, key, _ in factors])

    with pytest.raises(SimulationError, match="10 of 10 draws cannot go on"):
        with_ranges(Shrunk(), forecast, 10)


def test_a_scenario_with_a_sweep_has_ranges():
    of = scenario(programs=f'{PROGRAMS}[sweep]\nvary = {{ "machine.memory.size" = "1GB,2GB" }}\n')
    assert pc.simulate(of, uncertain=4).drawn.draws == 4


def test_draws_that_cannot_differ_are_simulated_once(monkeypatch):
    asked, simulate = [], api.simulate
    monkeypatch.setattr(api, "simulate", lambda *of, **more: asked.append(more) or simulate(*of, **more))
    assert ranges(scenario(spread=None), 50).drawn.draws == 50
    assert len(asked) == 1 + 2


def test_of_many_hosts_no_levels_are_kept():
    hosts = "".join(f"host.h{n}.{line}\n" for n in range(9) for line in MACHINE.splitlines())
    link = 'link.l{0} = {{ between = ["h0", "h{0}"], rate = "1 GB/s", latency = "1 us" }}\n'
    links = "".join(link.format(n) for n in range(1, 9))
    programs = '[[process]]\nname = "a"\nhost = "h0"\ndo = [ { write = "/data/f", size = "8 MB" } ]\n'
    result = ranges(pc.Scenario.from_toml(hosts + links + programs), 4)
    assert len(result.level_bands) == 0
    assert [name for name in result.ranges["measure"] if name.startswith("peak")] == []


def test_figures_of_any_measures_have_the_same_errors():
    result = api.simulate(scenario())
    figures = figures_of(result)
    assert figures_for([figure.measure for figure in figures], result) == figures


def test_a_rate_is_divided_by_the_error_of_its_time():
    result = api.simulate(scenario())
    span, rate = figures_for([parse_measure("makespan(backup)"), parse_measure("rate(backup *)")], result)
    factors = np.array([0.5, 2.0])
    assert span.kind == rate.kind
    assert rate.changed(np.ones(2), factors) == pytest.approx(1 / span.changed(np.ones(2), factors))
