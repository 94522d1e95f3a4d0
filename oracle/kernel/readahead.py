"""Which units are read before they are asked for.

What it models: windows in pages, as the kernel computes them; what is submitted are the units that a window
touches, and the first unit of its later part is marked.
Source: mm/readahead.c (page_cache_sync_ra, page_cache_async_ra, get_init_ra_size, get_next_ra_size,
ractl_max_pages).
Leaves out: fadvise, streams that share an open file, larger folios.
"""

from dataclasses import dataclass

from .clock import power_of_2_from


def first_size(request: int, most: int) -> int:
    size = power_of_2_from(max(request, 1))
    if size <= most // 32:
        return size * 4
    return size * 2 if size <= most // 4 else most


def next_size(size: int, most: int) -> int:
    if size < most // 16:
        return size * 4
    return size * 2 if size <= most // 2 else most


@dataclass(frozen=True)
class Window:
    """Pages [start, start + size) to be read, of which `later` come before anybody asks."""

    start: int
    size: int
    later: int


@dataclass
class Stream:
    """An open file that is read: its last window, where it was read last and where a call ended (bytes)."""

    size: int = 0
    end: int = 0  # page after the last window
    last_end: int = -1
    last_call_end: int = -1


def most_pages(request: int, read_ahead: int, max_request: int) -> int:
    """Limit of a window: a large read may take a whole request."""
    return min(request, max_request) if request > read_ahead and max_request > read_ahead else read_ahead


def on_miss(page: int, request: int, last_page: int, cached_before: int, most: int) -> Window:
    """A page is not there. `cached_before`: pages just before it that are."""
    if page == 0 or request > most or page - last_page <= 1:
        size = first_size(request, most)
        return Window(page, size, size - request if size > request else size // 2)
    if cached_before <= request:
        return Window(page, request, 0)
    size = min((2 * cached_before if cached_before >= page else cached_before) + request, most)
    return Window(page, size, 1)


def on_mark(stream: Stream, most: int) -> Window:
    """The marked page of the last window is read: the next one is due, and no smaller (since Linux 6.12)."""
    size = max(stream.size, next_size(stream.size, most))
    return Window(stream.end, size, size)
