//! Declares a struct and its keys at once, by a macro.
//!
//! It sorts the rows into fields, keys and values that fields hold, and writes the struct, its default, its schema and [`super::Keyed`]
//! from them. Left out: attributes that no key needs.

/// Declares a struct and the keys of its table, in the order in which they are printed:
///
/// ```text
/// keys! {
///     /// A disk.
///     #[derive(Clone, Debug)]
///     pub struct Disk: "disk" {
///         /// A field without a key.
///         pub name: String,
///         /// One reader's rate
///         #[key(RATE, required)]
///         pub read: BytesPerSecond,
///         /// A flush of its own cache, which makes writes durable
///         ///
///         /// What the reference says beside that.
///         #[key(TIME, default = Nanos::ZERO)]
///         pub flush: Nanos,
///     }
/// }
/// ```
///
/// After the form of a key stands at most one of
/// - `required`,
/// - `default = VALUE`, printed where it is another value,
/// - `shown = VALUE`, the same, but always printed: the first keys are, and their machines keep their hashes,
/// - `absent = "WORDS"`, for an `Option` that something else stands in for.
///
/// `#[name = "..."]` gives a key another name than its field. `in field.0` is a key that is a part of a field, `only name` one that is read
/// by hand. `flat field: Type` has the keys of another such struct in the same table, as its last ones.
macro_rules! keys {
    ($(#[$($meta:tt)*])* pub struct $name:ident: $title:literal { $($rows:tt)* }) => {
        $crate::keys::keys! { @rows [$(#[$($meta)*])*] $name $title [] [] [] [] [] $($rows)* }
    };

    // A field without a key.
    (@rows $meta:tt $name:ident $title:literal [$($fields:tt)*] $keys:tt $held:tt $parts:tt $rest:tt
        $(#[doc = $doc:literal])* pub $field:ident: $ty:ty, $($rows:tt)*) => {
        $crate::keys::keys! { @rows $meta $name $title
            [$($fields)* { [$(#[doc = $doc])*] $field $ty, Default::default() }] $keys $held $parts $rest $($rows)* }
    };

    // A field with a key.
    (@rows $meta:tt $name:ident $title:literal [$($fields:tt)*] [$($keys:tt)*] [$($held:tt)*] $parts:tt $rest:tt
        $(#[doc = $doc:literal])* #[key($form:expr $(, $option:ident $(= $value:expr)?)?)] $(#[name = $key:literal])?
        pub $field:ident: $ty:ty, $($rows:tt)*) => {
        $crate::keys::keys! { @rows $meta $name $title
            [$($fields)* { [$(#[doc = $doc])*] $field $ty, $crate::keys::keys!(@default $($option $(= $value)?)?) }]
            [$($keys)* { [$($doc)*] [$($key)? $field] [$form] $($option $(= $value)?)? }]
            [$($held)* { [$($key)? $field] [$field] [$form] }]
            $parts $rest $($rows)* }
    };

    // A key that is a part of a field.
    (@rows $meta:tt $name:ident $title:literal $fields:tt [$($keys:tt)*] [$($held:tt)*] [$($parts:tt)*] $rest:tt
        $(#[doc = $doc:literal])* #[key($form:expr, shown = $value:expr)] #[name = $key:literal]
        in $field:ident . $part:tt, $($rows:tt)*) => {
        $crate::keys::keys! { @rows $meta $name $title $fields
            [$($keys)* { [$($doc)*] [$key $field] [$form] shown = $value }]
            [$($held)* { [$key $field] [$field . $part] [$form] }]
            [$($parts)* { [$field . $part] $value }]
            $rest $($rows)* }
    };

    // A key that is read by hand.
    (@rows $meta:tt $name:ident $title:literal $fields:tt [$($keys:tt)*] $held:tt $parts:tt $rest:tt
        $(#[doc = $doc:literal])* #[key($kind:expr $(, $option:ident $(= $value:expr)?)?)] $(#[name = $key:literal])?
        only $field:ident, $($rows:tt)*) => {
        $crate::keys::keys! { @rows $meta $name $title $fields
            [$($keys)* { [$($doc)*] [$($key)? $field] [$crate::keys::by_hand($kind)] $($option $(= $value)?)? }]
            $held $parts $rest $($rows)* }
    };

    // The keys of another struct.
    (@rows $meta:tt $name:ident $title:literal [$($fields:tt)*] $keys:tt $held:tt $parts:tt []
        $(#[doc = $doc:literal])* flat $field:ident: $ty:ty, $($rows:tt)*) => {
        $crate::keys::keys! { @rows $meta $name $title
            [$($fields)* { [$(#[doc = $doc])*] $field $ty, Default::default() }]
            $keys $held $parts [$field $ty] $($rows)* }
    };

    // All rows are sorted.
    (@rows [$($meta:tt)*] $name:ident $title:literal
        [$({ [$($field_doc:tt)*] $field:ident $ty:ty, $default:expr })*]
        [$({ [$($doc:literal)*] [$($key:tt)*] [$form:expr] $($option:tt)* })*]
        [$({ [$($held_key:tt)*] [$($at:tt)*] [$held_form:expr] })*]
        [$({ [$($part:tt)*] $value:expr })*]
        [$($rest:ident $rest_ty:ty)?]
    ) => {
        $($meta)*
        pub struct $name { $($($field_doc)* pub $field: $ty,)* }

        impl $name {
            const OWN_KEYS: &[$crate::keys::Key] = &[$($crate::keys::Key {
                name: $crate::keys::keys!(@name $($key)*),
                kind: $form.kind,
                is_required: $crate::keys::keys!(@is_required $($option)*),
                otherwise: $crate::keys::keys!(@otherwise [$form] $($option)*),
                is_shown: $crate::keys::keys!(@is_shown $($option)*),
                doc: concat!($($doc, "\n"),*),
            }),*];
        }

        impl Default for $name {
            fn default() -> Self {
                #[allow(unused_mut, reason = "only parts of a field are set later")]
                let mut made = Self { $($field: $default,)* };
                $(made.$($part)* = $value;)*
                made
            }
        }

        impl $crate::keys::Keyed for $name {
            const SCHEMA: &'static $crate::keys::Schema =
                &$crate::keys::Schema { name: $title, keys: $crate::keys::keys!(@all $name $($rest_ty)?) };

            fn get(&self, key: &str) -> Option<$crate::keys::Held> {
                match key {
                    $(_ if key == $crate::keys::keys!(@name $($held_key)*) => $crate::keys::Slot::look(&self.$($at)*, &$held_form),)*
                    $(_ if <$rest_ty as $crate::keys::Keyed>::SCHEMA.key(key).is_some() => self.$rest.get(key),)?
                    _ => None,
                }
            }

            fn set(&mut self, key: &str, value: $crate::keys::Held) {
                match key {
                    $(_ if key == $crate::keys::keys!(@name $($held_key)*) => $crate::keys::Slot::put(&mut self.$($at)*, &$held_form, value),)*
                    $(_ if <$rest_ty as $crate::keys::Keyed>::SCHEMA.key(key).is_some() => self.$rest.set(key, value),)?
                    _ => {}
                }
            }
        }
    };

    (@name $key:literal $field:ident) => { $key };
    (@name $field:ident) => { stringify!($field) };

    (@default shown = $value:expr) => { $value };
    (@default default = $value:expr) => { $value };
    (@default absent = $words:expr) => { Default::default() };
    (@default required) => { Default::default() };
    (@default) => { Default::default() };

    (@is_required required) => { true };
    (@is_required $($other:tt)*) => { false };

    (@is_shown shown = $value:expr) => { true };
    (@is_shown required) => { true };
    (@is_shown $($other:tt)*) => { false };

    (@otherwise [$form:expr] shown = $value:expr) => { $crate::keys::Otherwise::Value(|| ($form.get)(&$value)) };
    (@otherwise [$form:expr] default = $value:expr) => { $crate::keys::Otherwise::Value(|| ($form.get)(&$value)) };
    (@otherwise [$form:expr] absent = $words:expr) => { $crate::keys::Otherwise::Words($words) };
    (@otherwise [$form:expr] $($other:tt)*) => { $crate::keys::Otherwise::Nothing };

    (@all $name:ident) => { <$name>::OWN_KEYS };
    (@all $name:ident $rest:ty) => {
        &$crate::keys::join::<{ <$name>::OWN_KEYS.len() + <$rest as $crate::keys::Keyed>::SCHEMA.keys.len() }>(
            <$name>::OWN_KEYS,
            <$rest as $crate::keys::Keyed>::SCHEMA.keys,
        )
    };
}
pub(crate) use keys;
