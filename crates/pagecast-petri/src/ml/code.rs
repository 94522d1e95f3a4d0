//! Represents compiled CPN ML: names are slots of a frame, fields are numbers, and functions are looked up once.

use std::sync::Arc;

use super::library::Builtin;
use crate::colset::ColsetFn;
use crate::value::{Symbol, Value};

/// A compiled expression.
#[derive(Clone, Debug)]
pub enum Code {
    /// A value known at compile time.
    Const(Value),
    /// A variable: its slot in the frame.
    Slot(u32),
    /// A tuple or a record.
    Tuple(Box<[Code]>),
    /// A list.
    List(Box<[Code]>),
    /// A field of a tuple or a record.
    Field(u32, Box<Code>),
    /// `if`.
    If(Box<[Code; 3]>),
    /// `andalso`.
    And(Box<[Code; 2]>),
    /// `orelse`.
    Or(Box<[Code; 2]>),
    /// `case`.
    Case(Box<Code>, Box<[Arm]>),
    /// `let`: values are matched with patterns one after the other.
    Let(Box<[(Match, Code)]>, Box<Code>),
    /// `a; b`.
    Sequence(Box<[Code]>),
    /// An operator.
    Operation(Operator, Box<[Code; 2]>),
    /// A function with the variables around it: their slots.
    Closure(Arc<Lambda>, Box<[u32]>),
    /// A call of a function that is computed.
    Call(Box<Code>, Box<[Code]>),
    /// A call of a function of the net, with all its arguments.
    CallKnown(u32, Box<[Code]>),
    /// A call of a function of the library, with all its arguments.
    CallBuiltin(&'static Builtin, Box<[Code]>),
    /// A constructor with its argument.
    Construct(Symbol, Box<Code>),
    /// An element of an index.
    Index(Symbol, Box<Code>),
    /// `raise`.
    Raise(Box<Code>),
    /// `handle`.
    Handle(Box<Code>, Box<[Arm]>),
}

/// `pattern => expression`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Left of the arrow.
    pub pattern: Match,
    /// Right of it.
    pub body: Code,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub enum Match {
    /// Anything.
    Any,
    /// Anything, which is stored in a slot.
    Bind(u32),
    /// This value.
    Equal(Value),
    /// A tuple or a record.
    Tuple(Box<[Match]>),
    /// Some fields of a record.
    Fields(Box<[(u32, Match)]>),
    /// A list of this length.
    List(Box<[Match]>),
    /// A list that is not empty.
    Cons(Box<[Match; 2]>),
    /// A constructor with its argument.
    Apply(Symbol, Box<Match>),
    /// An element of an index, with its number.
    Index(Symbol, Box<Match>),
    /// The value is stored, and matched with a pattern.
    As(u32, Box<Match>),
    /// The value of an expression: in an input arc inscription.
    Code(Code),
}

/// The operators that are computed where they stand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operator {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Divide,
    /// `div`.
    Div,
    /// `mod`.
    Mod,
    /// `=`.
    Eq,
    /// `<>`.
    Ne,
    /// `<`.
    Lt,
    /// `>`.
    Gt,
    /// `<=`.
    Le,
    /// `>=`.
    Ge,
    /// `^`.
    Concat,
    /// `::`.
    Cons,
    /// `^^`.
    Append,
    /// A coefficient.
    Times,
    /// `**`.
    Scale,
    /// `++`.
    Plus,
    /// `--`.
    Minus,
    /// `@+`.
    After,
    /// `@`.
    At,
    /// `==` of multisets.
    MsEq,
    /// `<><>`.
    MsNe,
    /// `<<`.
    MsLt,
    /// `<<=`.
    MsLe,
    /// `>>`.
    MsGt,
    /// `>>=`.
    MsGe,
    /// `:=`.
    Assign,
    /// `o`.
    Compose,
}

impl Operator {
    /// The operator that is written so.
    pub fn of(text: &str) -> Option<Self> {
        Some(match text {
            "+" => Self::Add,
            "-" => Self::Sub,
            "*" => Self::Mul,
            "/" => Self::Divide,
            "div" => Self::Div,
            "mod" => Self::Mod,
            "=" => Self::Eq,
            "<>" => Self::Ne,
            "<" => Self::Lt,
            ">" => Self::Gt,
            "<=" => Self::Le,
            ">=" => Self::Ge,
            "^" => Self::Concat,
            "::" => Self::Cons,
            "^^" => Self::Append,
            "`" => Self::Times,
            "**" => Self::Scale,
            "++" | "+++" => Self::Plus,
            "--" => Self::Minus,
            "@+" | "@++" => Self::After,
            "@" => Self::At,
            "==" => Self::MsEq,
            "<><>" => Self::MsNe,
            "<<" => Self::MsLt,
            "<<=" => Self::MsLe,
            ">>" => Self::MsGt,
            ">>=" => Self::MsGe,
            ":=" => Self::Assign,
            "o" => Self::Compose,
            _ => return None,
        })
    }
}

/// A function as it is written.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// Its name, for messages.
    pub name: String,
    /// How many arguments it takes, one after the other.
    pub parameters: usize,
    /// True if its one parameter is a tuple of variables, which are its first slots.
    pub is_spread: bool,
    /// How many slots the arguments have, at the beginning of the frame.
    pub arguments: usize,
    /// How many slots its frame has.
    pub slots: usize,
    /// Where the captured values go, in the order of the closure.
    pub captured: Box<[u32]>,
    /// Where the function itself goes, if it calls itself.
    pub itself: Option<u32>,
    /// Its clauses: a pattern for each argument, and the body. The patterns of a spread function match anything.
    pub clauses: Box<[(Box<[Match]>, Code)]>,
}

/// A function as a value.
#[derive(Clone, Debug)]
pub struct Function {
    /// The code that is called.
    pub callee: Callee,
    /// Arguments that are given already.
    pub applied: Vec<Value>,
}

/// The code that a function value calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A local function with what it has captured.
    Lambda(Arc<Lambda>, Box<[Value]>),
    /// A function of the net.
    Known(u32),
    /// A function of the library.
    Builtin(&'static Builtin),
    /// A function of a colour set.
    Colset(ColsetFn, u32),
    /// A constructor.
    Constructor(Symbol),
    /// An index.
    Index(Symbol),
    /// `#label`.
    Field(u32),
    /// `op +`: takes a pair.
    Operator(Operator),
    /// `f o g`.
    Compose(Value, Value),
}

impl Function {
    /// A function value without arguments yet.
    pub fn value(callee: Callee) -> Value {
        Value::Fn(Arc::new(Self { callee, applied: Vec::new() }))
    }
}
