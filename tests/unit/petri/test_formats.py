"""Files of CPN Tools and PNML in and out, and pictures."""

import json
import re
import xml.etree.ElementTree as ET
from html import unescape

import pytest

from pagecast.errors import ArgumentError, PetriNetError
from pagecast.petri import Net, Node, load
from pagecast.petri.nets import path_of
from tests.unit.petri.corpus import NETS, built


def tokens():
    """Three tokens go there in pairs, and come back one by one."""
    net = Net("round")
    net.declare("colset UNIT = unit;")
    left, right = (
        net.place("Left & <one>", "UNIT", "3`()", at=(0, 0)),
        net.place("Right", "UNIT", at=(200, 50)),
    )
    there, back = net.transition("There", at=(100, 60)), net.transition("Back", at=(100, -60))
    net.arc(left, there, "2`()")
    net.arc(there, right, "2`()")
    net.arc(right, back, "()")
    net.arc(back, left, "()")
    net.arc(left, back, "()", both=True)
    return net


def test_a_net_is_the_same_after_pnml(tmp_path):
    net = tokens()
    net.save(tmp_path / "net.pnml")
    again = load(tmp_path / "net.pnml")
    spaces = [each.state_space() for each in (net, again)]
    # Left and right: 3 0, 1 2, 2 1, and from there 3 0 again or 0 3, where nothing is enabled.
    assert (spaces[0].nodes, spaces[0].arcs, len(spaces[0].dead_markings)) == (4, 4, 1)
    assert spaces[0].to_dict() == spaces[1].to_dict()
    assert [place["name"] for place in again.pages()[0]["places"]] == ["Left & <one>", "Right"]
    assert [place["x"] for place in again.pages()[0]["places"]] == [0, 200]
    assert again.pages()[0]["places"][1]["y"] == 50
    again.save(tmp_path / "again.cpn")
    assert load(tmp_path / "again.cpn").state_space().to_dict() == spaces[0].to_dict()


def test_a_file_of_cpn_tools_keeps_what_pagecast_does_not_understand(tmp_path):
    """Text, layout, groups, binders and options stay, element by element; only the encoding becomes UTF-8."""
    text = path_of("ext3-read").read_text()
    rest = text.split("?>", 1)[1]
    page_end = rest.index("</page>")
    aux = '<Aux id="A1"><posattr x="1.500000" y="-2.000000"/><label/><text>Größe &amp; Zeit</text></Aux>'
    group = '<group id="G1" name="all of it"><node idref="A1"/></group>'
    foreign = (
        '<binders><cpnbinder id="B1" x="1" y="2" width="3"><sheets/><zorder/></cpnbinder></binders>'
        '<options><option name="realtimestamp"><value><boolean>false</boolean></value></option></options>'
    )
    rest = rest[:page_end] + aux + group + rest[page_end:].replace("</cpnet>", f"{foreign}</cpnet>")
    (tmp_path / "theirs.cpn").write_bytes(
        ('<?xml version="1.0" encoding="iso-8859-1"?>' + rest).encode("latin-1")
    )
    load(tmp_path / "theirs.cpn").save(tmp_path / "ours.cpn")
    theirs, ours = (ET.parse(tmp_path / name).getroot() for name in ("theirs.cpn", "ours.cpn"))
    one, other = (ET.canonicalize(ET.tostring(root), strip_text=True) for root in (ours, theirs))
    assert one == other
    assert "Größe & Zeit" in "".join(ours.itertext())


PNML = """<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="a"><page id="b">
<place id="p"><initialMarking><text>3</text></initialMarking></place></page>
<referencePlace id="r" ref="p"/><transition id="t"><name><text>Take</text></name></transition>
<arc id="x" source="r" target="t"><inscription><text>2</text></inscription></arc></page></net></pnml>"""


def test_references_of_other_pages_are_followed(tmp_path):
    (tmp_path / "net.pnml").write_text(PNML)
    run = load(tmp_path / "net.pnml").run()
    assert (run.ended, run.steps, run.marking) == ("dead", 1, {"Page'p": "1`()"})


def inhibited(weight: str = "1") -> str:
    """Give the net with an inhibitor arc, as PIPE and TAPAAL write it."""
    arc = f'<type value="inhibitor"/><inscription><text>{weight}</text></inscription>'
    return PNML.replace("<inscription><text>2</text></inscription>", arc)


def test_an_inhibitor_arc_inhibits(tmp_path):
    (tmp_path / "net.pnml").write_text(inhibited())
    assert load(tmp_path / "net.pnml").run().steps == 0
    (tmp_path / "net.pnml").write_text(
        PNML.replace('id="x"', 'id="x" type="reset"').replace("<text>2", "<text>1")
    )
    assert load(tmp_path / "net.pnml").run(steps=1).marking == {"Page'p": "empty"}


def test_document_types_of_other_files_and_parts_of_other_tools_are_passed(tmp_path):
    own = (
        '<toolspecific tool="t" version="1"><place id="q"/><arc id="z" source="q" target="q"/></toolspecific>'
    )
    text = '<!DOCTYPE pnml SYSTEM "pnml.dtd">' + PNML.replace("<referencePlace", f"{own}<referencePlace")
    (tmp_path / "net.pnml").write_text(text)
    assert [place["name"] for place in load(tmp_path / "net.pnml").pages()[0]["places"]] == ["p"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "this is no XML: no element found"),
        ("<html/>", "PNML begins with <pnml>, and not with <html>"),
        (
            '<!DOCTYPE pnml [<!ENTITY a "a">]><pnml>&a;</pnml>',
            "a document type with declarations is not read; remove it",
        ),
        ("<pnml/>", "it has 0 nets; a file of one is read"),
        (PNML.replace("grammar/ptnet", "grammar/symmetricnet"), "place/transition nets are read"),
        (PNML.replace("<text>3", "<text>three"), "<initialMarking> of `p` is no number: `three`"),
        (PNML.replace('source="r"', 'source="q"'), "an arc names the node `q`, which is not there"),
        (PNML.replace('ref="p"', 'ref="r"'), "an arc names the node `r`, which is not there"),
        (PNML.replace('target="t"', 'target="p"'), "arc `x` joins two nodes of the kind place"),
        (inhibited(weight="2"), "arc `x` of the kind `inhibitor` and weight 2 from a place is not read"),
        (
            PNML.replace('id="x"', 'id="x" type="read"'),
            "arc `x` of the kind `read` and weight 2 from a place",
        ),
        (PNML.replace('id="t"', 'id="p"'), "a <transition> has no id, or that of another node"),
    ],
)
def test_a_file_that_is_no_such_net_is_refused(content, message, tmp_path):
    path = tmp_path / "net.pnml"
    path.write_text(content)
    with pytest.raises(PetriNetError, match=r"net\.pnml: ") as found:
        load(path)
    assert message in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("product", "the initial marking of `A` is"),
        ("ports", "a place/transition net has one page, and this one has 2"),
    ],
)
def test_what_a_place_transition_net_has_not_is_said(name, message, tmp_path):
    with pytest.raises(PetriNetError) as found:
        built(name, NETS[name]).save(tmp_path / "net.pnml")
    assert message in str(found.value)
    assert not (tmp_path / "net.pnml").exists()


@pytest.mark.parametrize("name", NETS)
def test_every_net_can_be_drawn(name, tmp_path):
    net = built(name, NETS[name])
    net.save(tmp_path / "net.svg")
    net.save(tmp_path / "net.dot")
    root = ET.parse(tmp_path / "net.svg").getroot()
    texts = {"".join(of.itertext()) for of in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {page["name"] for page in net.pages()} <= texts
    arcs = sum(len(net.pages()[page]["arcs"]) for page, *_ in net._made().instances())
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == arcs
    assert (tmp_path / "net.dot").read_text().count(" -> ") == arcs


def test_the_marking_is_drawn(tmp_path):
    tokens().save(tmp_path / "net.svg")
    text = (tmp_path / "net.svg").read_text()
    assert '<text class="count"' in text
    assert "3`()" in text
    assert "Left &amp; &lt;one&gt;" in text


def test_an_arc_that_pnml_has_not_is_said(tmp_path):
    net = tokens()
    net.inhibit(Node("Page", "Right", "place"), Node("Page", "There", "transition"))
    with pytest.raises(PetriNetError, match="between `Right` and `There` is an arc of the kind inhibitor"):
        net.save(tmp_path / "net.pnml")


def test_a_run_is_a_page_of_its_own(tmp_path):
    run = tokens().animate(tmp_path / "run.html", steps=50, seed=2)
    page = (tmp_path / "run.html").read_text()
    steps = json.loads(re.search(r"^const steps = (.*), lines", page, re.MULTILINE)[1])
    assert len(steps) == run.steps + 1
    assert steps[0]["marking"]["Page'Left & <one>"] == ["3", ["3`()"]]
    assert (steps[1]["transition"], steps[1]["marking"]["Page'Right"]) == ("Page'There", ["2", ["2`()"]])
    assert page.count("<script>") == page.count("</script>") == 1
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_instances_of_a_page_are_drawn_each(tmp_path):
    net = built("two instances of a page", NETS["two instances of a page"])
    net.save(tmp_path / "net.svg")
    places = re.findall(r'data-place="(.*?)"', (tmp_path / "net.svg").read_text())
    drawn = sum(len(page["places"]) * (1 if page["prime"] else 2) for page in net.pages())
    assert len(places) == drawn
    assert set(map(unescape, places)) == set(net.run(steps=0).places["place"])


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match=r"`\.png` is no kind of a net or a picture"):
        tokens().save(tmp_path / "net.png")
