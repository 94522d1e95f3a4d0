"""What is known of others that take page cache back."""

from pagecast.cache import proactive_reclaim


def write(path, text):
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_nothing_is_known_where_nothing_is(tmp_path):
    assert proactive_reclaim(tmp_path) is None


def test_a_kdamond_at_work(tmp_path):
    state = tmp_path / "kernel/mm/damon/admin/kdamonds/0/state"
    write(state, "off\n")
    assert proactive_reclaim(tmp_path) is None
    state.write_text("on\n")
    assert proactive_reclaim(tmp_path).startswith("DAMON is on")


def test_a_kdamond_whose_state_nobody_may_read(tmp_path):
    (tmp_path / "kernel/mm/damon/admin/kdamonds/0").mkdir(parents=True)
    assert proactive_reclaim(tmp_path).startswith("DAMON is on")


def test_the_module_that_reclaims(tmp_path):
    enabled = tmp_path / "module/damon_reclaim/parameters/enabled"
    write(enabled, "N\n")
    assert proactive_reclaim(tmp_path) is None
    enabled.write_text("Y\n")
    assert proactive_reclaim(tmp_path).startswith("DAMON_RECLAIM is on")
