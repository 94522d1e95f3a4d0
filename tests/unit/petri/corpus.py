"""Small nets of ours: one for each rule of the semantics, and some classics.

A net is a few lines: declarations as they are; ``page NAME``; ``NAME : COLSET = MARKING`` for a place, with
``{in}``, ``{out}``, ``{in/out}`` or ``{fusion NAME}`` in front of the equals sign; ``trans NAME`` with
``guard``, ``delay``, ``priority``, ``code`` and ``page`` after bars; and ``PLACE -> TRANSITION :
INSCRIPTION``, ``<->`` for both ways, ``-o`` for an inhibitor arc, ``-r`` for a reset arc.
"""

import re

from pagecast.petri import Net

DECLARATIONS = ("colset ", "var ", "val ", "fun ", "globref ")
ARC = re.compile(r"^(.+?) (->|<->|-o|-r) (.+?)(?: : (.*))?$")
PLACE = re.compile(r"^(.+?) : (\w+)(?: \{(.*?)\})?(?: = (.*))?$")


def built(name, text):
    """Give the net of a text."""
    net, page, nodes, arcs = Net(name), "Top", {}, []
    subpages = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith(DECLARATIONS):
            net.declare(line)
        elif line.startswith("page "):
            page = line.removeprefix("page ")
        elif line.startswith("trans "):
            first, *parts = line.removeprefix("trans ").split(" | ")
            options = dict(part.split(" ", 1) for part in parts)
            if "page" in options:
                subpages.append((page, first, options["page"]))
            else:
                nodes[page, first] = net.transition(first, page=page, **options)
        elif match := ARC.match(line):
            arcs.append((page, *match.groups()))
        elif match := PLACE.match(line):
            place, colset, option, initial = match.groups()
            more = {}
            if option:
                more = {"fusion": option.split()[1]} if option.startswith("fusion") else {"port": option}
            nodes[page, place] = net.place(place, colset, initial or "", page=page, **more)
        else:
            raise AssertionError(line)
    for page, name, which in subpages:
        subpage, *pairs = which.split()
        sockets = {port: nodes[page, socket] for port, socket in (pair.split("=") for pair in pairs)}
        nodes[page, name] = net.transition(name, page=page, subpage=subpage, sockets=sockets)
        for socket in sockets.values():
            net.arc(socket, nodes[page, name], "")
    for page, source, sign, target, inscription in arcs:
        source, target = nodes[page, source], nodes[page, target]
        match sign:
            case "->":
                net.arc(source, target, inscription)
            case "<->":
                net.arc(source, target, inscription, both=True)
            case "-o":
                net.inhibit(source, target)
            case "-r":
                net.reset(source, target)
    return net


BASIC = """
colset UNIT = unit;
colset INT = int;
colset BOOL = bool;
colset STRING = string;
var n, m, k : INT;
var b : BOOL;
var s, t : STRING;
"""

NETS = {
    "one step": BASIC
    + """
        A : UNIT = 3`()
        B : UNIT
        trans T
        A -> T : ()
        T -> B : ()
    """,
    "choice": BASIC
    + """
        A : INT = 1`1 ++ 1`2 ++ 2`3
        B : INT
        C : INT
        trans Left
        trans Right | guard n > 1
        A -> Left : n
        Left -> B : n
        A -> Right : n
        Right -> C : n * 10
    """,
    "circle": BASIC
    + """
        A : INT = 1`0
        trans Up | guard n < 5
        trans Down | guard n > 0
        A -> Up : n
        Up -> A : n + 1
        A -> Down : n
        Down -> A : n - 1
    """,
    "coefficients": BASIC
    + """
        A : INT = 4`1 ++ 3`2
        B : INT
        trans Two
        A -> Two : 2`n
        Two -> B : 3`(n + 1)
    """,
    "a coefficient that is bound": BASIC
    + """
        A : INT = 5`7
        Sizes : INT = 1`2 ++ 1`3
        B : INT
        trans T
        Sizes -> T : k
        A -> T : 2`n ++ 1`7
        T -> B : k`n
    """,
    "two terms": BASIC
    + """
        A : INT = 1`1 ++ 1`2 ++ 2`3
        B : INT
        trans Pair
        A -> Pair : 1`n ++ 1`m
        Pair -> B : n + m
    """,
    "the same variable twice": BASIC
    + """
        A : INT = 1`1 ++ 1`2 ++ 1`3
        B : INT = 1`2 ++ 1`3 ++ 1`4
        C : INT
        trans Join
        A -> Join : n
        B -> Join : n
        Join -> C : n
    """,
    "the same variable twice on one arc": BASIC
    + """
        A : INT = 3`1 ++ 1`2
        C : INT
        trans Join
        A -> Join : 1`n ++ 1`n
        Join -> C : n
    """,
    "both ways": BASIC
    + """
        A : INT = 1`1 ++ 1`2
        B : INT
        trans Read
        A <-> Read : n
        Stop : UNIT = 3`()
        Stop -> Read : ()
        Read -> B : n
    """,
    "inhibitor": BASIC
    + """
        A : UNIT = 2`()
        B : UNIT
        C : UNIT = 1`()
        D : UNIT
        trans First
        trans Then
        A -> First : ()
        First -> B : ()
        C -> Then : ()
        A -o Then
        Then -> D : ()
    """,
    "reset": BASIC
    + """
        A : INT = 1`1 ++ 1`2 ++ 1`3
        Go : UNIT = 1`()
        B : INT
        trans Move
        trans Clear
        A -> Move : n
        Move -> B : n
        Go -> Clear : ()
        B -r Clear
    """,
    "reset and put back": BASIC
    + """
        A : INT = 1`1 ++ 1`2
        Go : UNIT = 2`()
        trans Clear
        Go -> Clear : ()
        A -r Clear
        Clear -> A : 7
    """,
    "priority": BASIC
    + """
        A : INT = 1`1 ++ 1`2
        B : INT
        C : INT
        trans Urgent | priority P_HIGH | guard n = 1
        trans Normal
        trans Late | priority P_LOW
        A -> Urgent : n
        Urgent -> B : n
        A -> Normal : n
        Normal -> C : n
        C -> Late : n
        Late -> B : n
    """,
    "guard that binds": BASIC
    + """
        A : INT = 1`1 ++ 1`2
        B : INT
        trans T | guard m = n * n + 1
        A -> T : n
        T -> B : m
    """,
    "guard of a list": BASIC
    + """
        A : INT = 1`1 ++ 1`2 ++ 1`3 ++ 1`4
        B : INT
        trans T | guard [n > 1, n < 4]
        A -> T : n
        T -> B : n
    """,
    "guard that finds the token": BASIC
    + """
        A : INT = 1`1 ++ 1`2 ++ 1`5
        B : INT = 1`1 ++ 1`4 ++ 1`25
        C : INT
        trans T | guard m = n * n
        A -> T : n
        B -> T : m
        T -> C : m
    """,
    "free variable": """
        colset SMALL = int with 1..3;
        var x : SMALL;
        A : SMALL = 1`1
        B : SMALL
        trans T
        A -> T : 1
        T -> B : x
    """,
    "free truth value": BASIC
    + """
        A : INT = 1`5
        B : BOOL
        C : INT
        trans T
        A -> T : n
        T -> B : b
        T -> C : if b then 1`n else empty
    """,
    "expression on an input arc": BASIC
    + """
        A : INT = 1`1 ++ 1`2 ++ 1`3
        B : INT = 2`1 ++ 2`2 ++ 1`4
        C : INT
        trans T
        A -> T : n
        B -> T : if n = 1 then 2`1 else 1`n ++ 1`(n + 2)
        T -> C : n
    """,
    "computed part of a pattern": """
        colset INT = int;
        colset P = product INT * INT;
        var n, m : INT;
        A : P = 1`(1, 2) ++ 1`(2, 2) ++ 1`(2, 3)
        B : INT
        trans T
        A -> T : (n, n + 1)
        T -> B : n
    """,
    "function": BASIC
    + """
        fun double x = 2 * x
        fun few 0 = empty | few k = 1`k ++ few (k - 1);
        A : INT = 1`1 ++ 1`3
        B : INT
        trans T
        A -> T : n
        T -> B : few (double n)
    """,
    "let and case": BASIC
    + """
        fun kind k = case k mod 3 of 0 => "none" | 1 => "one" | _ => "more";
        A : INT = 1`3 ++ 1`4 ++ 1`5
        B : STRING
        trans T
        A -> T : n
        T -> B : let val x = kind n val y = "<" ^ x in y ^ ">" end
    """,
    "strings": BASIC
    + """
        A : STRING = 1`"a" ++ 1`"b"
        B : STRING
        trans Join | guard s < t
        A -> Join : 1`s ++ 1`t
        Join -> B : s ^ t ^ Int.toString (size t)
    """,
    "named truth values": """
        colset ANSWER = bool with (no, yes);
        var a : ANSWER;
        A : ANSWER = 2`no ++ 1`yes
        B : ANSWER
        trans Flip
        A -> Flip : yes
        Flip -> B : no
        trans Move
        A -> Move : no
        Move -> B : yes
    """,
    "named unit": """
        colset E = unit with e;
        A : E = 2`e
        B : E
        trans T
        A -> T : e
        T -> B : e
    """,
    "enumeration": """
        colset LIGHT = with red | green | yellow;
        var c : LIGHT;
        fun next red = green | next green = yellow | next yellow = red;
        A : LIGHT = 1`red
        trans Change
        A -> Change : c
        Change -> A : next c
    """,
    "enumeration of all": """
        colset LIGHT = with red | green | yellow;
        var c : LIGHT;
        A : LIGHT = LIGHT.all()
        B : LIGHT
        trans T | guard c <> green
        A -> T : c
        T -> B : c
    """,
    "index": """
        val n = 3;
        colset PH = index ph with 1..n;
        var p : PH;
        A : PH = PH.all()
        B : PH
        trans T
        A -> T : p
        T -> B : p
    """,
    "index with its number": """
        colset INT = int;
        colset PH = index ph with 1..4;
        var i : INT;
        A : PH = PH.all()
        B : INT
        trans T | guard i mod 2 = 0
        A -> T : ph(i)
        T -> B : i
    """,
    "product": """
        colset INT = int;
        colset STRING = string;
        colset P = product INT * STRING;
        var i : INT;
        var s : STRING;
        A : P = 1`(1, "a") ++ 1`(2, "b")
        B : STRING
        trans T
        A -> T : (i, s)
        T -> B : s
    """,
    "product with a constant": """
        colset INT = int;
        colset P = product INT * INT;
        var i : INT;
        A : P = 1`(1, 5) ++ 1`(2, 6) ++ 1`(2, 7)
        B : INT
        trans T
        A -> T : (2, i)
        T -> B : i
    """,
    "product as one variable": """
        colset INT = int;
        colset P = product INT * INT;
        var p : P;
        A : P = 1`(1, 5) ++ 1`(2, 6)
        B : INT
        trans T | guard #1 p > 1
        A -> T : p
        T -> B : #1 p + #2 p
    """,
    "record": """
        colset INT = int;
        colset STRING = string;
        colset R = record id : INT * name : STRING;
        var i : INT;
        var s : STRING;
        A : R = 1`{id = 1, name = "a"} ++ 1`{name = "b", id = 2}
        B : R
        trans T
        A -> T : {id = i, name = s}
        T -> B : {id = i + 10, name = s ^ "!"}
    """,
    "field of a record": """
        colset INT = int;
        colset R = record z : INT * a : INT;
        var r : R;
        A : R = 1`{z = 1, a = 2} ++ 1`{z = 3, a = 1}
        B : INT
        trans T | guard #z r > #a r
        A -> T : r
        T -> B : #z r - #a r
    """,
    "list as a queue": """
        colset INT = int;
        colset QUEUE = list INT;
        var i : INT;
        var q : QUEUE;
        In : INT = 1`1 ++ 1`2 ++ 1`3
        Queue : QUEUE = 1`[]
        Out : INT
        trans Enter
        trans Leave
        In -> Enter : i
        Queue -> Enter : q
        Enter -> Queue : q ^^ [i]
        Queue -> Leave : i :: q
        Leave -> Queue : q
        Leave -> Out : i
    """,
    "list functions": """
        colset INT = int;
        colset L = list INT;
        var l : L;
        A : L = 1`[3, 1, 2] ++ 1`[]
        B : INT
        C : L
        trans Sum | guard length l > 0
        trans Rest | guard l = []
        A -> Sum : l
        Sum -> B : List.foldl (fn (x, y) => x + y) 0 l
        Sum -> C : List.take (rev l, 2)
        A -> Rest : l
        Rest -> C : map (fn x => x + 1) [1, 2]
    """,
    "list of a fixed length": """
        colset INT = int;
        colset L = list INT;
        var i, j : INT;
        A : L = 1`[1, 2] ++ 1`[3] ++ 1`[4, 5, 6] ++ 1`[7, 8]
        B : INT
        trans T
        A -> T : [i, j]
        T -> B : i * j
    """,
    "union": """
        colset INT = int;
        colset MESSAGE = union data : INT + ack : INT + nothing;
        var i : INT;
        A : MESSAGE = 1`data(1) ++ 1`ack(2) ++ 1`nothing
        B : INT
        trans Data
        trans Ack
        trans Nothing
        A -> Data : data(i)
        Data -> B : i
        A -> Ack : ack(i)
        Ack -> B : i * 100
        A -> Nothing : nothing
        Nothing -> B : 0
    """,
    "subset of values": """
        colset INT = int;
        colset FEW = subset INT with [2, 3, 5];
        var f : FEW;
        A : INT = 1`1
        B : INT
        trans T
        A -> T : 1
        T -> B : f
    """,
    "subset by a function": """
        colset SMALL = int with 0..9;
        fun even x = x mod 2 = 0
        colset EVEN = subset SMALL by even;
        var f : EVEN;
        A : SMALL = 1`1
        B : SMALL
        trans T
        A -> T : 1
        T -> B : f
    """,
    "alias": """
        colset INT = int;
        colset NUMBER = INT;
        var n : NUMBER;
        A : INT = 1`1 ++ 1`2
        B : NUMBER
        trans T
        A -> T : n
        T -> B : n
    """,
    "code segment": BASIC
    + """
        A : INT = 1`3 ++ 1`4
        B : INT
        trans T | code input (n); output (m); action n * n + 1
        A -> T : n
        T -> B : m
    """,
    "code segment with two outputs": BASIC
    + """
        A : INT = 1`3 ++ 1`4
        B : INT
        C : STRING
        trans T | code input (n); output (m, s); action (n div 2, Int.toString n)
        A -> T : n
        T -> B : m
        T -> C : s
    """,
    "multisets in declarations": BASIC
    + """
        val start = 2`1 ++ 1`2;
        A : INT = start ++ 1`2
        B : INT
        trans T
        A -> T : n
        T -> B : n
    """,
    "fusion": BASIC
    + """
        A : INT {fusion F} = 1`1 ++ 1`2
        B : INT
        trans T
        A -> T : n
        T -> B : n
        page Other
        A again : INT {fusion F} = 1`1 ++ 1`2
        C : INT
        trans U
        A again -> U : n
        U -> C : n
    """,
    "ports": BASIC
    + """
        A : INT = 1`1 ++ 1`2
        B : INT
        trans Work | page Sub in=A out=B
        page Sub
        in : INT {in}
        out : INT {out}
        mid : INT
        trans Begin
        trans End
        in -> Begin : n
        Begin -> mid : n
        mid -> End : n
        End -> out : n + 1
    """,
    "two instances of a page": BASIC
    + """
        A : INT = 1`1 ++ 1`2
        B : INT
        C : INT
        trans First | page Sub in=A out=B
        trans Second | page Sub in=B out=C
        page Sub
        in : INT {in}
        out : INT {out}
        busy : UNIT = 1`()
        trans Move
        in -> Move : n
        busy <-> Move : ()
        Move -> out : n
    """,
    "pages in pages": BASIC
    + """
        A : INT = 1`1
        B : INT
        trans Outer | page Middle in=A out=B
        page Middle
        in : INT {in}
        out : INT {out}
        between : INT
        trans One | page Inner in=in out=between
        trans Two | page Inner in=between out=out
        page Inner
        in : INT {in}
        out : INT {out}
        trans Step
        in -> Step : n
        Step -> out : n + 1
    """,
    "fusion in an instance": BASIC
    + """
        A : INT = 1`1 ++ 1`2
        B : INT
        trans First | page Sub in=A out=B
        trans Second | page Sub in=A out=B
        page Sub
        in : INT {in}
        out : INT {out}
        lock : UNIT {fusion Lock} = 1`()
        held : INT
        trans Take
        trans Give
        in -> Take : n
        lock -> Take : ()
        Take -> held : n
        held -> Give : n
        Give -> out : n
        Give -> lock : ()
    """,
    "delay of a transition": """
        colset INT = int timed;
        var n : INT;
        A : INT = 1`1 ++ 1`2
        B : INT
        trans T | delay @+ 5
        A -> T : n
        T -> B : n
        trans U | delay @+ n
        B -> U : n
        U -> B : n + 10
        Stop : INT = 1`3
        Stop -> U : 3
    """,
    "delay of an arc": """
        colset INT = int timed;
        var n : INT;
        A : INT = 1`1 ++ 1`2
        B : INT
        C : INT
        trans T | delay @+ 1
        A -> T : n
        T -> B : n @+ 2
        T -> C : n
        trans U
        B -> U : n
        C -> U : n
        U -> D : n + 10
        D : INT
    """,
    "stamps in the initial marking": """
        colset INT = int timed;
        var n : INT;
        A : INT = 1`1@4 +++ 1`2@2 +++ 1`3
        B : INT
        trans T | delay @+ 3
        A -> T : n
        T -> B : n
    """,
    "equal tokens with other stamps": """
        colset UNIT = unit timed;
        colset INT = int timed;
        var n : INT;
        A : UNIT = 1`()@1 +++ 1`()@2
        Go : INT = 1`1@3 +++ 1`2@3
        B : INT
        trans T | delay @+ 1
        A -> T : ()
        Go -> T : n
        T -> B : n
    """,
    "waiting for the last": """
        colset INT = int timed;
        var n, m : INT;
        A : INT = 1`1@5
        B : INT = 1`2@7
        C : INT
        trans T | delay @+ 2
        A -> T : n
        B -> T : m
        T -> C : n + m
    """,
    "time and no time": """
        colset INT = int;
        colset JOB = int timed;
        var n : INT;
        var j : JOB;
        Jobs : JOB = 1`1 ++ 1`2
        Free : INT = 1`10
        Done : JOB
        trans Begin | delay @+ 4
        Jobs -> Begin : j
        Free -> Begin : n
        Begin -> Busy : j
        Busy : JOB
        trans End
        Busy -> End : j
        End -> Free : 10
        End -> Done : j
    """,
    "tokens that are taken early": """
        colset INT = int timed;
        var n : INT;
        A : INT = 1`1@10 +++ 1`2@3
        B : INT
        trans T | delay @+ 1
        A -> T : n @+ 4
        T -> B : n
    """,
    "the time of the model": """
        colset INT = int timed;
        var n : INT;
        A : INT = 1`1@4 +++ 1`2@9
        B : INT
        trans T | delay @+ 1
        A -> T : n
        T -> B : n * 100 + IntInf.toInt (time ())
    """,
    "priority and time": """
        colset INT = int timed;
        var n : INT;
        A : INT = 1`1 ++ 1`2@3
        B : INT
        C : INT
        trans Late | priority P_LOW | delay @+ 1
        trans Soon | priority P_HIGH | delay @+ 2 | guard n = 2
        A -> Late : n
        Late -> B : n
        A -> Soon : n
        Soon -> C : n
    """,
    "inhibitor and time": """
        colset INT = int timed;
        var n : INT;
        A : INT = 1`1@6
        B : INT = 1`2
        C : INT
        trans Drain
        trans Wait | delay @+ 1
        A -> Drain : n
        Drain -> C : n
        B -> Wait : n
        A -o Wait
        Wait -> C : n
    """,
    "timed list": """
        colset INT = int;
        colset QUEUE = list INT timed;
        var i : INT;
        var q : QUEUE;
        In : INT = 1`1 ++ 1`2
        Queue : QUEUE = 1`[]@2
        trans Enter | delay @+ 3
        In -> Enter : i
        Queue -> Enter : q
        Enter -> Queue : i :: q
    """,
    "mutual recursion": BASIC
    + """
        fun even 0 = true | even k = odd (k - 1) and odd 0 = false | odd k = even (k - 1);
        A : INT = 1`4 ++ 1`7
        B : BOOL
        trans T
        A -> T : n
        T -> B : even n
    """,
    "options": BASIC
    + """
        fun found k = List.find (fn x => x > k) [1, 4, 9];
        fun shown NONE = 0 | shown (SOME x) = x;
        A : INT = 1`2 ++ 1`10
        B : INT
        trans T
        A -> T : n
        T -> B : shown (found n)
    """,
    "rounding of div and mod": BASIC
    + """
        A : INT = 1`7 ++ 1`(~7)
        B : INT
        trans T
        A -> T : n
        T -> B : 1`(n div 2) ++ 1`(n mod 2) ++ 1`(n div ~2) ++ 1`(n mod ~2)
    """,
    "producer and consumer": BASIC
    + """
        val slots = 2;
        Ready : INT = 1`1
        Buffer : INT
        Free : UNIT = slots`()
        Eaten : INT
        trans Produce | guard n <= 4
        Ready -> Produce : n
        Free -> Produce : ()
        Produce -> Buffer : n
        Produce -> Ready : n + 1
        trans Consume
        Buffer -> Consume : n
        Consume -> Free : ()
        Consume -> Eaten : n
    """,
    "readers and writers": """
        val n = 3;
        colset UNIT = unit;
        colset P = index p with 1..n;
        var x : P;
        Idle : P = P.all()
        Reading : P
        Writing : P
        Lock : UNIT = n`()
        trans Read
        Idle -> Read : x
        Lock -> Read : ()
        Read -> Reading : x
        trans EndRead
        Reading -> EndRead : x
        EndRead -> Lock : ()
        EndRead -> Idle : x
        trans Write
        Idle -> Write : x
        Lock -> Write : n`()
        Write -> Writing : x
        trans EndWrite
        Writing -> EndWrite : x
        EndWrite -> Lock : n`()
        EndWrite -> Idle : x
    """,
    "protocol with losses": """
        colset INT = int;
        colset DATA = string;
        colset PACKET = product INT * DATA;
        colset BOOL = bool;
        var n, k : INT;
        var p, d : DATA;
        var ok : BOOL;
        Send : PACKET = 1`(1, "a") ++ 1`(2, "b")
        Next : INT = 1`1
        Wire : PACKET
        Room : INT = 1`0
        Wanted : INT = 1`1
        Received : DATA = 1`""
        Acks : INT
        trans Transmit
        Send <-> Transmit : (n, p)
        Next <-> Transmit : n
        Room -> Transmit : 0
        Transmit -> Wire : (n, p)
        trans Deliver
        Wire -> Deliver : (n, p)
        Wanted -> Deliver : k
        Received -> Deliver : d
        Deliver -> Wanted : if ok andalso n = k then k + 1 else k
        Deliver -> Received : if ok andalso n = k then d ^ p else d
        Deliver -> Acks : if ok andalso n = k then k + 1 else k
        trans Acknowledge
        Acks -> Acknowledge : n
        Next -> Acknowledge : k
        Acknowledge -> Next : n
        Acknowledge -> Room : 0
    """,
}


def philosophers(n):
    """Give n philosophers who take one stick after the other."""
    return f"""
        val n = {n};
        colset PH = index ph with 1..n;
        colset CS = index cs with 1..n;
        var p : PH;
        fun Left (ph(i)) = cs(i);
        fun Right (ph(i)) = cs(if i = n then 1 else i + 1);
        Think : PH = PH.all()
        One : PH
        Eat : PH
        Sticks : CS = CS.all()
        trans TakeLeft
        Think -> TakeLeft : p
        Sticks -> TakeLeft : Left p
        TakeLeft -> One : p
        trans TakeRight
        One -> TakeRight : p
        Sticks -> TakeRight : Right p
        TakeRight -> Eat : p
        trans Put
        Eat -> Put : p
        Put -> Think : p
        Put -> Sticks : 1`Left p ++ 1`Right p
    """


def database(n):
    """Give n managers of a distributed database, who tell each other of each change."""
    return f"""
        val n = {n};
        colset DBM = index d with 1..n;
        colset PR = product DBM * DBM;
        fun diff (x, y) = x <> y;
        colset MES = subset PR by diff;
        colset E = unit with e;
        fun Mes s = PR.mult (1`s, DBM.all() -- 1`s);
        var s, r : DBM;
        Inactive : DBM = DBM.all()
        Waiting : DBM
        Performing : DBM
        Unused : MES = MES.all()
        Sent : MES
        Received : MES
        Acknowledged : MES
        Active : E
        Passive : E = e
        trans Update
        Inactive -> Update : s
        Passive -> Update : e
        Unused -> Update : Mes s
        Update -> Waiting : s
        Update -> Active : e
        Update -> Sent : Mes s
        trans Receive
        Inactive -> Receive : r
        Sent -> Receive : (s, r)
        Receive -> Performing : r
        Receive -> Received : (s, r)
        trans Send
        Performing -> Send : r
        Received -> Send : (s, r)
        Send -> Inactive : r
        Send -> Acknowledged : (s, r)
        trans Done
        Waiting -> Done : s
        Acknowledged -> Done : Mes s
        Active -> Done : e
        Done -> Inactive : s
        Done -> Passive : e
        Done -> Unused : Mes s
    """


def workers(n):
    """Give n timed jobs for two machines of different speeds."""
    return f"""
        colset JOB = int with 1..{n} timed;
        colset M = with slow | fast timed;
        var j : JOB;
        var m : M;
        fun length_of slow = 3 | length_of fast = 2;
        colset BUSY = product M * JOB timed;
        Jobs : JOB = JOB.all()
        Machines : M = 1`slow ++ 1`fast
        Busy : BUSY
        Done : JOB
        trans Begin
        Jobs -> Begin : j
        Machines -> Begin : m
        Begin -> Busy : (m, j) @+ (length_of m + j)
        trans End
        Busy -> End : (m, j)
        End -> Machines : m
        End -> Done : j
    """


NETS |= {f"{n} philosophers": philosophers(n) for n in (2, 3, 4)}
NETS |= {f"database of {n}": database(n) for n in (2, 3)}
NETS |= {f"{n} jobs": workers(n) for n in (2, 3, 4)}
