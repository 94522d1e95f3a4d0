//! The keys of a WfFormat instance that matter here, by its versions. All others are passed over.
//!
//! Source: `wfcommons-schema.json` of the repository wfcommons/WfFormat at its tags v1.4 and v1.5. Version 1.6 adds summaries to 1.5, which
//! nothing here needs.

use serde::Deserialize;

/// The part of every version that tells it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    pub schema_version: Option<String>,
    pub workflow: Option<HeadOfWorkflow>,
}

/// Which keys a workflow has.
#[derive(Deserialize)]
pub struct HeadOfWorkflow {
    pub specification: Option<serde::de::IgnoredAny>,
}

/// An instance of version 1.5 or 1.6.
#[derive(Deserialize)]
pub struct Split {
    pub workflow: SplitWorkflow,
}

#[derive(Deserialize)]
pub struct SplitWorkflow {
    pub specification: Specification,
    pub execution: Option<Execution>,
}

#[derive(Deserialize)]
pub struct Specification {
    pub tasks: Vec<SpecifiedTask>,
    #[serde(default)]
    pub files: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpecifiedTask {
    pub id: String,
    #[serde(default)]
    pub parents: Vec<String>,
    #[serde(default)]
    pub children: Vec<String>,
    #[serde(default)]
    pub input_files: Vec<String>,
    #[serde(default)]
    pub output_files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    pub id: String,
    pub size_in_bytes: f64,
}

#[derive(Deserialize)]
pub struct Execution {
    #[serde(default)]
    pub tasks: Vec<ExecutedTask>,
    #[serde(default)]
    pub machines: Vec<Machine>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedTask {
    pub id: String,
    pub runtime_in_seconds: Option<f64>,
    pub core_count: Option<f64>,
    #[serde(rename = "avgCPU")]
    pub avg_cpu: Option<f64>,
    pub memory_in_bytes: Option<f64>,
    pub priority: Option<f64>,
    #[serde(default)]
    pub machines: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    pub node_name: String,
}

/// An instance of version 1.4.
#[derive(Deserialize)]
pub struct Flat {
    pub workflow: FlatWorkflow,
}

#[derive(Deserialize)]
pub struct FlatWorkflow {
    pub tasks: Vec<FlatTask>,
    #[serde(default)]
    pub machines: Vec<Machine>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlatTask {
    pub name: String,
    pub id: Option<String>,
    #[serde(default)]
    pub parents: Vec<String>,
    #[serde(default)]
    pub children: Vec<String>,
    #[serde(default)]
    pub files: Vec<FlatFile>,
    pub runtime_in_seconds: Option<f64>,
    pub cores: Option<f64>,
    #[serde(rename = "avgCPU")]
    pub avg_cpu: Option<f64>,
    pub memory_in_bytes: Option<f64>,
    pub priority: Option<f64>,
    pub machine: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlatFile {
    pub name: String,
    /// Of older instances: it stands before the name, as WfCommons' own migration to 1.5 puts it.
    pub path: Option<String>,
    pub size_in_bytes: f64,
    pub link: Link,
}

/// Whether a task reads or writes a file.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    Input,
    Output,
}
