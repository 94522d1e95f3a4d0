//! CPN ML means what Standard ML and CPN Tools mean by it.

use pagecast_petri::ml::check::Checker;
use pagecast_petri::ml::declarations::declarations;
use pagecast_petri::ml::lower::Lowering;
use pagecast_petri::ml::machine::{Machine, State};
use pagecast_petri::ml::parser::expression;
use pagecast_petri::ml::program::{Program, TimeKind};

/// The value of an expression after some declarations, as it is written; an error with its offset.
fn try_value(declared: &str, text: &str) -> Result<String, String> {
    let mut program = Program::new(TimeKind::Integer);
    let shown = |error: pagecast_petri::error::MlError| format!("{}: {}", error.offset, error.message);
    for declaration in declarations(declared).map_err(shown)? {
        program.declare(&declaration).map_err(shown)?;
    }
    let expr = expression(text).map_err(shown)?;
    let mut checker = Checker::new(&program);
    checker.infer(&expr).map_err(shown)?;
    checker.finish().map_err(shown)?;
    let mut lowering = Lowering::new(&program);
    let code = lowering.expression(&expr).map_err(shown)?;
    let mut state = State::new(&program, 1);
    state.enter(lowering.slots());
    let value = Machine { program: &program, state: &mut state }.eval(&code, 0);
    value.map(|value| program.shown(&value)).map_err(|fault| fault.message)
}

fn value(text: &str) -> String {
    try_value("", text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    try_value("", text).expect_err(text)
}

#[test]
fn operators_bind_as_in_standard_ml() {
    assert_eq!(value("1 + 2 * 3 - 4"), "3");
    assert_eq!(value("7 - 2 - 1"), "4");
    assert_eq!(value("1 :: 2 :: [3] ^^ [4]"), "[1,2,3,4]");
    assert_eq!(value("1 < 2 andalso 2 < 1 orelse true"), "true");
    assert_eq!(value("\"a\" ^ Int.toString (2 + 3)"), "\"a5\"");
    assert_eq!(value("~3 + 1"), "~2");
    assert_eq!(value("~ (1 + 2)"), "~3");
    assert_eq!(value("not (1 = 2)"), "true");
}

#[test]
fn div_and_mod_round_down() {
    assert_eq!(value("[~7 div 2, ~7 mod 2, 7 div ~2, 7 mod ~2]"), "[~4,1,~4,~1]");
}

#[test]
fn multisets_are_made_by_recursion_and_by_folds() {
    let of = |declared: &str, text: &str| try_value(declared, text).unwrap_or_else(|error| panic!("{error}"));
    let down = "fun f n = if n > 3 then empty else 1`n ++ f (n + 1);";
    assert_eq!(of(down, "f 1"), "1`1++1`2++1`3");
    let with = "fun loop (k, acc) = if k = 0 then acc else loop (k - 1, acc ++ 1`k);";
    assert_eq!(of(with, "loop (2, empty)"), "1`1++1`2");
    assert_eq!(of("fun f (x, y) = x ++ y;", "f (1`1, 2`2)"), "1`1++2`2");
    assert_eq!(of("fun f x = x @+ 3;", "f (1`1)"), "1`1@+3");
    assert_eq!(value("foldr (fn (a, b) => 1`a ++ b) empty [1, 2, 2]"), "1`1++2`2");
}

#[test]
fn coefficients_bind_tighter_than_sums_of_multisets() {
    assert_eq!(value("2`(1 + 1) ++ 1`3"), "2`2++1`3");
    assert_eq!(value("1`1 ++ 1`2 ++ 1`1"), "2`1++1`2");
    assert_eq!(value("3`1 ++ 1`2 -- 1`1"), "2`1++1`2");
    assert_eq!(value("1`1 ++ 1`2 == 1`2 ++ 1`1"), "true");
    assert_eq!(value("1`1 <<= 2`1"), "true");
    assert_eq!(value("size (3`1 ++ 2`5)"), "5");
    assert_eq!(value("cf (1, 3`1 ++ 2`5)"), "3");
}

#[test]
fn a_delay_belongs_to_the_term_in_front_of_it() {
    assert_eq!(value("1`1 @+ 3 ++ 1`2"), "1`1@+3++1`2");
    assert_eq!(value("1`1 @+ 3 @+ 4"), "1`1@+7");
    assert_eq!(value("1`1 @ 5"), "1`1@5");
}

#[test]
fn patterns_take_values_apart() {
    assert_eq!(value("case (1, [2, 3]) of (a, b :: c) => a + b + length c | _ => 0"), "4");
    assert_eq!(value("case SOME 3 of NONE => 0 | SOME x => x"), "3");
    assert_eq!(value("let val {b, a = x, ...} = {a = 1, b = 2, c = 3} in 10 * x + b end"), "12");
    assert_eq!(value("let val all as h :: _ = [1, 2] in (h, all) end"), "(1,[1,2])");
    assert_eq!(value("#2 (1, \"x\")"), "\"x\"");
    assert_eq!(value("#name {id = 1, name = \"n\"}"), "\"n\"");
    assert_eq!(value("map #1 [(1, 2), (3, 4)]"), "[1,3]");
}

#[test]
fn functions_are_values_and_keep_what_is_around_them() {
    assert_eq!(value("let fun add x y = x + y in map (add 3) [1, 2] end"), "[4,5]");
    assert_eq!(value("let val n = 5 fun f 0 = n | f k = f (k - 1) + 1 in f 3 end"), "8");
    assert_eq!(value("(fn (x, y) => x * y) (3, 4)"), "12");
    assert_eq!(value("foldr (op +) 0 [1, 2, 3]"), "6");
    assert_eq!(value("((fn x => x + 1) o (fn x => x * 2)) 5"), "11");
    assert_eq!(try_value("fun f (a, b) = a - b; val p = (7, 2);", "f p").unwrap(), "5");
    assert_eq!(try_value("fun twice f x = f (f x)", "twice (twice (fn x => x * 2)) 1").unwrap(), "16");
}

#[test]
fn a_function_may_have_any_type() {
    let declared = "fun pair x = (x, x); fun len [] = 0 | len (_ :: t) = 1 + len t;";
    assert_eq!(
        try_value(declared, "(pair 1, pair \"a\", len [true], len [[1]])").unwrap(),
        "((1,1),(\"a\",\"a\"),1,1)"
    );
}

#[test]
fn an_overloaded_operator_has_the_type_of_its_operands() {
    assert_eq!(value("1.5 + 2.0"), "3.5");
    assert_eq!(value("abs ~2.5"), "2.5");
    assert_eq!(value("\"a\" < \"b\""), "true");
    assert_eq!(try_value("fun double (x: real) = x + x", "double 1.5").unwrap(), "3.0");
    assert_eq!(error("1 + 1.0"), "4: expected int, found real");
}

#[test]
fn colour_sets_have_functions() {
    let declared = "colset INT = int with 1..4; colset C = with red | green; colset L = list C with 0..2;
        colset D = index d with 1..3; colset P = product C * D;";
    let of = |text: &str| try_value(declared, text).unwrap();
    assert_eq!(of("C.all()"), "1`red++1`green");
    assert_eq!(of("INT.size()"), "4");
    assert_eq!(of("C.ord green"), "1");
    assert_eq!(of("D.col 2"), "d(3)");
    assert_eq!(of("INT.legal 7"), "false");
    assert_eq!(of("C.mkstr red"), "\"red\"");
    assert_eq!(of("P.mult (1`red, D.all())"), "1`(red,d(1))++1`(red,d(2))++1`(red,d(3))");
    assert_eq!(of("size (P.all())"), "6");
    assert_eq!(of("L.legal [red, red, red]"), "false");
}

#[test]
fn lists_and_multisets_fit_each_other() {
    assert_eq!(value("map (fn x => x + 1) (2`1 ++ 1`5)"), "[2,2,6]");
    assert_eq!(value("list_to_ms [2, 1, 2]"), "1`1++2`2");
    assert_eq!(value("List.take ([1, 2, 3], 2)"), "[1,2]");
    assert_eq!(value("sort (fn (a, b) => a < b) [3, 1, 2]"), "[1,2,3]");
    assert_eq!(value("mem [1, 2] 2"), "true");
    assert_eq!(value("rm 2 [1, 2, 3, 2]"), "[1,3,2]");
    assert_eq!(value("List.nth ([1, 2], 1)"), "2");
}

#[test]
fn exceptions_are_raised_and_handled() {
    assert_eq!(error("1 div 0"), "division by 0");
    assert_eq!(value("(hd []) handle Empty => 7"), "7");
    assert_eq!(value("(raise Fail \"x\") handle Fail s => s | _ => \"\""), "\"x\"");
    assert_eq!(error("9223372036854775807 + 1"), "an integer of more than 64 bits");
}

#[test]
fn references_hold_values() {
    assert_eq!(try_value("globref n = 3;", "(n := !n + 1; inc n; !n)").unwrap(), "5");
}

#[test]
fn an_error_says_where_and_what_would_be_right() {
    assert_eq!(error("if 1 then 2 else 3"), "3: expected bool, found int");
    assert_eq!(error("lenght [1]"), "0: `lenght` is not declared; did you mean `length`?");
    assert_eq!(error("(1, 2"), "5: expected `)`, found the end of the text");
    assert_eq!(error("#x y"), "3: `y` is not declared");
    assert_eq!(
        error("fn x => #a x"),
        "8: the record with the field `a` is not known; write its type, as in `(x: C)`"
    );
    assert_eq!(error("let val x = 1 in x x end"), "17: this is a value of type int, and no function");
    assert_eq!(error("fn x => x x"), "8: expected 'a, found 'a -> 'b");
}

#[test]
fn text_that_is_nested_deeply_is_refused() {
    let deep = "(".repeat(100_000);
    assert!(error(&deep).contains("nested deeper"));
}

#[test]
fn a_function_that_never_ends_is_stopped() {
    let found = pagecast_petri::stack::on_large_stack(|| try_value("fun f x = f (x + 1) + 1", "f 0"));
    assert!(found.unwrap_err().contains("does it ever end?"));
}

#[test]
fn a_value_may_hold_references() {
    assert_eq!(try_value("val g = ref 3;", "(g := !g + 1; inc g; !g)").unwrap(), "5");
    assert_eq!(
        try_value("val (a, b) = (ref 1, ref 2); val n = (inc b; !b);", "(!a, !b, n)").unwrap(),
        "(1,3,3)"
    );
    let declared = "val next = let val n = ref 0 in fn () => (inc n; !n) end;";
    assert_eq!(try_value(declared, "(next (); next ())").unwrap(), "2");
    let declared = "colset INT = int;
        colset FIRST = subset INT by (let val most = ref 4 in fn x => x <= !most end);";
    assert_eq!(try_value(declared, "map FIRST.legal [4, 5]").unwrap(), "[true,false]");
}

#[test]
fn a_computed_value_of_any_type_fits_each_use() {
    assert_eq!(
        try_value("val none = 1`[];", "(none ++ 1`[1], none ++ 1`[\"a\"])").unwrap(),
        "(1`[]++1`[1],1`[]++1`[\"a\"])"
    );
}

#[test]
fn the_type_of_a_reference_is_known() {
    let error = "14: the type of `g` is not known, only 'a list ref; write it, as in `([]: C)`";
    assert_eq!(try_value("globref g =   [];", "!g").unwrap_err(), error);
    assert_eq!(try_value("val     g   = ref [];", "!g").unwrap_err(), error);
    assert_eq!(try_value("colset INT = int; colset L = list INT; globref g = [] : L;", "!g").unwrap(), "[]");
}

#[test]
fn a_multiset_is_taken_several_times_or_delayed_as_a_whole() {
    assert_eq!(value("2 ** (1`1 ++ 2`5)"), "2`1++4`5");
    assert_eq!(value("2 ** 1`1 ++ 1`2"), "2`1++1`2");
    assert_eq!(value("0 ** 1`1"), "empty");
    assert_eq!(error("~1 ** 1`1"), "the coefficient -1 is negative");
    assert_eq!(error("4 ** 9000000000000000000`1"), "a multiset of more than 2^63 tokens");
    assert_eq!(value("1`1 ++ 1`2 @@+ 3"), "1`1@+3++1`2@+3");
}

#[test]
fn the_library_has_functions_of_standard_ml() {
    assert_eq!(value("map (fn x => (Int.quot (x, 2), Int.rem (x, 2))) [7, ~7]"), "[(3,1),(~3,~1)]");
    assert_eq!(error("Int.rem (1, 0)"), "division by 0");
    assert_eq!(value("String.fields (fn c => c = #\",\") \"a,,b\""), "[\"a\",\"\",\"b\"]");
    assert_eq!(value("String.tokens (fn c => c = #\",\") \"a,,b\""), "[\"a\",\"b\"]");
    assert_eq!(value("ListMergeSort.sort (fn (a, b) => a > b) [3, 1, 2]"), "[1,2,3]");
    assert_eq!(
        value("ListMergeSort.sort (fn ((a, _), (b, _)) => a > b) [(1, 1), (0, 2), (1, 3)]"),
        "[(0,2),(1,1),(1,3)]"
    );
    assert_eq!(value("(print \"x\"; intTime () + step ())"), "0");
}

#[test]
fn values_may_be_declared_together() {
    assert_eq!(
        try_value("val a = 1 and b = 2 and f = fn x => x;", "(f a + b, f \"x\")").unwrap(),
        "(3,\"x\")"
    );
    assert_eq!(value("let val a = 1 val a = 2 and b = a in (a, b) end"), "(2,1)");
}

#[test]
fn a_word_that_is_not_supported_is_named() {
    let declared = |text| try_value(text, "1").unwrap_err();
    assert_eq!(declared("datatype t = A;"), "0: `datatype` is not supported here");
    assert_eq!(declared("val a = 1; open Math;"), "11: `open` is not supported here");
    assert_eq!(error("let open List in 1 end"), "4: `open` is not supported here");
    assert_eq!(error("(while true do (); 1)"), "1: `while` is not supported here");
}

#[test]
fn colour_sets_have_functions_of_their_parts() {
    let declared = "colset INT = int; colset STR = string;
        colset R = record b : INT * a : STR; colset P = product INT * STR; colset U = union n : INT + none;";
    let of = |text: &str| try_value(declared, text);
    assert_eq!(
        of("R.mkstr (R.set_a {a = \"x\", b = 1} \"y\")").unwrap(),
        of("R.mkstr {a = \"y\", b = 1}").unwrap()
    );
    assert_eq!(of("#b (R.set_b {a = \"x\", b = 1} 2)").unwrap(), "2");
    assert_eq!(of("map (P.set_1 (1, \"x\")) [2, 3]").unwrap(), "[(2,\"x\"),(3,\"x\")]");
    assert_eq!(of("P.set_2 (1, \"x\") \"y\"").unwrap(), "(1,\"y\")");
    assert_eq!(of("map U.of_n [n 1, none]").unwrap(), "[true,false]");
    assert_eq!(of("map U.of_none [n 1, none]").unwrap(), "[false,true]");
    assert_eq!(of("P.set_1 (1, \"x\") \"y\"").unwrap_err(), "17: expected int, found string");
}
