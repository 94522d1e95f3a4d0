"""The studio: a page with sliders for a scenario, which shows the forecast of each setting at once.

`source` reads the scenario and `folder` keeps to its folder; `controls` are the sliders. `session` simulates,
and drops what a newer change has made old; `answer` is what the page draws, from `timeline`, `latencies` and
`tables`. `copies` gives the settings as TOML and as a command. `guard` and `app` are the server, `serving`
runs it on the loopback address. The page itself is in `static`.
"""
