//! Writes the schema as JSON Schema, with which editors complete and check a scenario.
//!
//! It covers single keys. Rules for several keys together, and keys that a machine file may supply, are left to `pagecast check`.

use serde_json::{Map, Value, json};

use super::print::default_of;
use super::schema::{OF_OPERATIONS, OPERATIONS, SCENARIO};
use crate::keys::Otherwise;
use crate::keys::{Key, Kind, Schema};

/// A size, in the words of `units`; a `{name}` may stand anywhere in it.
const SIZE: &str = r"^\s*\+?[0-9][0-9_.]*([eE][+-]?[0-9]+)?\s*([kMGT]?B|[KMGT]iB)\s*$";
const RATE: &str = r"^\s*\+?[0-9][0-9_.]*([eE][+-]?[0-9]+)?\s*([kMGT]?B|[KMGT]iB)/s\s*$";
const TIME: &str = r"^\s*\+?[0-9][0-9_.]*([eE][+-]?[0-9]+)?\s*(ns|us|ms|s|min|h)\s*$";
const WITH_PARAMETER: &str = r"\{[^{}]+\}";
const PERCENT: &str = r"^\s*\+?[0-9][0-9_.]*([eE][+-]?[0-9]+)?\s*%\s*$";
const ANY_NAME: &str = r"\S";
const NUMBER: &str = r"^\s*[0-9][0-9_.]*\s*$";

/// The JSON schema (draft 7, which editors for TOML understand) of a scenario.
#[must_use]
pub fn json_schema() -> String {
    let mut definitions = Map::new();
    let mut root = table(&SCENARIO, &[], &mut definitions);
    let operations: Vec<Value> =
        OPERATIONS.iter().map(|each| table(each, &OF_OPERATIONS, &mut definitions)).collect();
    definitions.insert("operation".to_owned(), json!({ "anyOf": operations }));
    let root_keys = root.as_object_mut().expect("a table is an object");
    root_keys.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    root_keys.insert("title".to_owned(), json!("pagecast scenario"));
    root_keys.insert("definitions".to_owned(), Value::Object(definitions));
    let mut text = serde_json::to_string_pretty(&root).expect("a value made here has only string keys");
    text.push('\n');
    text
}

/// A table that may have keys beside those of its schema. What a machine must have may come from `from`, so nothing is required there.
fn table(schema: &'static Schema, common: &'static [Key], definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for key in schema.keys.iter().chain(common) {
        properties.insert(key.name.to_owned(), property(key, definitions));
    }
    let may_be_elsewhere = ["machine", "memory", "disk", "mount"].contains(&schema.name);
    let required: Vec<&str> =
        schema.keys.iter().filter(|key| key.is_required && !may_be_elsewhere).map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn property(key: &Key, definitions: &mut Map<String, Value>) -> Value {
    let mut value = kind(&key.kind, definitions);
    let is_reference = value.get("$ref").is_some();
    if is_reference {
        // Draft 7 ignores what stands beside a reference.
        value = json!({ "allOf": [value] });
    }
    value
        .as_object_mut()
        .expect("a kind is an object")
        .insert("description".to_owned(), json!(description(key)));
    value
}

/// Describes a key for an editor: the first paragraph of the doc, and the default.
fn description(key: &Key) -> String {
    let about = key.paragraphs().swap_remove(0);
    let colon = if matches!(key.otherwise, Otherwise::Words(_)) { ":" } else { "" };
    default_of(key).map_or(about.clone(), |default| format!("{about}; default{colon} {default}"))
}

fn kind(kind: &Kind, definitions: &mut Map<String, Value>) -> Value {
    match kind {
        Kind::Text | Kind::Version => json!({ "type": "string", "minLength": 1 }),
        Kind::Path => json!({ "type": "string", "pattern": r"^(/|\{)" }),
        Kind::Size | Kind::SizeOrZero => quantity(SIZE, &["20 GB", "4 KiB"]),
        Kind::SizeOrAll => json!({ "anyOf": [{ "const": "all" }, quantity(SIZE, &["20 GB"])] }),
        Kind::Rate => quantity(RATE, &["465 MB/s"]),
        Kind::Time => quantity(TIME, &["28 s", "20 us"]),
        Kind::Percent => quantity(PERCENT, &["15 %"]),
        Kind::Whole(least, most) => number(json!({ "type": "integer", "minimum": least, "maximum": most })),
        Kind::Number(least, most) => number(json!({ "type": "number", "minimum": least, "maximum": most })),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::True => json!({ "const": true }),
        Kind::Word(words) => {
            json!({ "anyOf": [{ "enum": words }, { "type": "string", "pattern": WITH_PARAMETER }] })
        }
        Kind::Words(words) => json!({ "type": "array", "items": { "enum": words } }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string", "minLength": 1 } }),
        Kind::Rates => named(&quantity(RATE, &["511 MB/s"]), r"^[1-9][0-9]*$"),
        Kind::Percents => named(&quantity(PERCENT, &["3 %"]), ANY_NAME),
        Kind::Scalars => named(&json!({ "type": ["string", "number", "boolean"] }), ANY_NAME),
        Kind::ScalarTables => {
            named(&named(&json!({ "type": ["string", "number", "boolean"] }), ANY_NAME), ANY_NAME)
        }
        Kind::Table(schema) => reference(schema, definitions),
        Kind::Tables(schema) => named(&reference(schema, definitions), ANY_NAME),
        Kind::List(schema) => json!({ "type": "array", "items": reference(schema, definitions) }),
        Kind::Either(schemas) => {
            let each: Vec<Value> = schemas.iter().map(|schema| reference(schema, definitions)).collect();
            json!({ "type": "array", "items": { "anyOf": each } })
        }
        Kind::Program => json!({ "type": "array", "items": { "$ref": "#/definitions/operation" } }),
    }
}

fn quantity(pattern: &str, examples: &[&str]) -> Value {
    json!({ "type": "string", "pattern": format!("{pattern}|{WITH_PARAMETER}"), "examples": examples })
}

/// A number, or a string that a parameter makes one.
fn number(number: Value) -> Value {
    json!({ "anyOf": [number, { "type": "string", "pattern": format!("{NUMBER}|{WITH_PARAMETER}") }] })
}

/// A table whose keys are the user's own.
fn named(value: &Value, pattern: &str) -> Value {
    json!({ "type": "object", "propertyNames": { "pattern": pattern }, "additionalProperties": value })
}

fn reference(schema: &'static Schema, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(schema.name) {
        // Its place is taken first, in case the schema contains itself.
        definitions.insert(schema.name.to_owned(), Value::Null);
        let definition = table(schema, &[], definitions);
        definitions.insert(schema.name.to_owned(), definition);
    }
    json!({ "$ref": format!("#/definitions/{}", schema.name) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keyed;

    fn schema() -> Value {
        serde_json::from_str(&json_schema()).expect("it is JSON")
    }

    #[test]
    fn every_table_is_there_with_all_its_keys() {
        let schema = schema();
        assert_eq!(schema["properties"]["file"]["items"]["$ref"], "#/definitions/file");
        let disk = schema["definitions"]["disk"]["properties"].as_object().expect("a disk has keys");
        assert_eq!(disk.len(), crate::machine::Disk::SCHEMA.keys.len());
        let verbs = schema["definitions"]["operation"]["anyOf"].as_array().expect("operations are a choice");
        assert_eq!(verbs.len(), OPERATIONS.len());
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let schema = schema();
        let text = schema.to_string();
        let references =
            text.split("#/definitions/").skip(1).map(|rest| &rest[..rest.find('"').expect("it ends")]);
        let dangling: Vec<&str> =
            references.filter(|name| !schema["definitions"][name].is_object()).collect();
        assert_eq!(dangling, [""; 0]);
    }

    #[test]
    fn what_a_machine_file_may_supply_is_not_required() {
        let schema = schema();
        assert_eq!(schema["definitions"]["machine"]["required"], json!([]));
        assert_eq!(schema["definitions"]["file"]["required"], json!(["path", "size"]));
    }
}
