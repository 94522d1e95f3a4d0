//! Represents parsed CPN ML: expressions, patterns, types and declarations.

use std::cell::RefCell;
use std::rc::Rc;

use crate::value::Value;

/// Where fields stand in their record; the type check fills it in.
pub type Places = Rc<RefCell<Vec<u32>>>;

/// An expression and its offset.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind, with its parts.
    pub kind: ExprKind,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A literal.
    Literal(Value),
    /// A variable, function or constructor.
    Name(String),
    /// `(a, b)`; `()` is a literal.
    Tuple(Vec<Expr>),
    /// `{a = 1, b = 2}`.
    Record(Vec<(String, Expr)>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `#label`, as a function.
    Select(String, Places),
    /// `f x`.
    Apply(Box<Expr>, Box<Expr>),
    /// `fn p => e | ...`.
    Fn(Vec<Rule>),
    /// `if a then b else c`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `case e of p => e | ...`.
    Case(Box<Expr>, Vec<Rule>),
    /// `let ... in e end`.
    Let(Vec<Declaration>, Box<Expr>),
    /// `(a; b)`.
    Sequence(Vec<Expr>),
    /// `a andalso b`.
    And(Box<Expr>, Box<Expr>),
    /// `a orelse b`.
    Or(Box<Expr>, Box<Expr>),
    /// An operator between two operands.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `e : type`.
    Typed(Box<Expr>, TypeExpr),
    /// `raise e`.
    Raise(Box<Expr>),
    /// `e handle p => e | ...`.
    Handle(Box<Expr>, Vec<Rule>),
}

/// `pattern => expression`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Left of the arrow.
    pub pattern: Pattern,
    /// Right of it.
    pub body: Expr,
}

/// A pattern and its offset.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its kind, with its parts.
    pub kind: PatternKind,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// The kinds of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`.
    Any,
    /// A variable, or a constructor of that name.
    Name(String),
    /// A literal.
    Literal(Value),
    /// `(a, b)`.
    Tuple(Vec<Pattern>),
    /// `{a, b = p, ...}`: fields, and whether there may be others.
    Record(Vec<(String, Pattern)>, bool, Places),
    /// `[a, b]`.
    List(Vec<Pattern>),
    /// `a :: b`.
    Cons(Box<Pattern>, Box<Pattern>),
    /// `C p`.
    Apply(String, Box<Pattern>),
    /// `x as p`.
    As(String, Box<Pattern>),
    /// `p : type`.
    Typed(Box<Pattern>, TypeExpr),
    /// An expression to compare with, in an input arc inscription only.
    Equal(Box<Expr>),
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// Its kind, with its parts.
    pub kind: TypeKind,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// The kinds of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `'a`.
    Var(String),
    /// `int`, or `'a list`: a name with its arguments.
    Name(String, Vec<TypeExpr>),
    /// `a * b`.
    Tuple(Vec<TypeExpr>),
    /// `{a: int}`.
    Record(Vec<(String, TypeExpr)>),
    /// `a -> b`.
    Fn(Box<TypeExpr>, Box<TypeExpr>),
}

/// A declaration inside `let`, or of a net.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// `val p = e`.
    Val(Pattern, Expr),
    /// `fun f p = e | f p = e and ...`.
    Fun(Vec<Fun>),
    /// `var x, y : C;`.
    Var(Vec<(String, usize)>, TypeExpr),
    /// `globref x = e;`.
    Globref(String, Expr),
    /// `colset C = ... timed;`.
    Colset(Colset),
    /// `exception E of type`.
    Exception(String, Option<TypeExpr>, usize),
}

/// A function of a `fun` declaration.
#[derive(Clone, Debug)]
pub struct Fun {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub at: usize,
    /// Its clauses, all with as many parameters.
    pub clauses: Vec<Clause>,
}

/// A clause of a function.
#[derive(Clone, Debug)]
pub struct Clause {
    /// One pattern for each curried parameter.
    pub parameters: Vec<Pattern>,
    /// `: type` of the result.
    pub result: Option<TypeExpr>,
    /// The body.
    pub body: Expr,
}

/// A colour set as it is declared.
#[derive(Clone, Debug)]
pub struct Colset {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub at: usize,
    /// Its body.
    pub kind: ColsetKind,
    /// True for a timed colour set.
    pub timed: bool,
}

/// The bodies of colour sets.
#[derive(Clone, Debug)]
pub enum ColsetKind {
    /// `unit`, perhaps `with e`.
    Unit(Option<String>),
    /// `bool`, perhaps `with (no, yes)`.
    Bool(Option<(String, String)>),
    /// `int`, perhaps `with a..b`.
    Int(Option<(Expr, Expr)>),
    /// `real`, perhaps `with a..b`.
    Real(Option<(Expr, Expr)>),
    /// `string`, perhaps `with a..b and m..n`.
    Str(Option<(Expr, Expr)>, Option<(Expr, Expr)>),
    /// `time`.
    Time,
    /// `with a | b`.
    Enum(Vec<(String, usize)>),
    /// `index i with a..b`.
    Index(String, Expr, Expr),
    /// `product A * B`.
    Product(Vec<(String, usize)>),
    /// `record a:A * b:B`.
    Record(Vec<(String, String, usize)>),
    /// `list A`, perhaps `with a..b`.
    List(String, usize, Option<(Expr, Expr)>),
    /// `union a:A + b`.
    Union(Vec<(String, Option<(String, usize)>)>),
    /// Another name for a colour set.
    Alias(String, usize),
    /// `subset A by f`.
    SubsetBy(String, usize, Expr),
    /// `subset A with [a, b]`.
    SubsetWith(String, usize, Expr),
}
