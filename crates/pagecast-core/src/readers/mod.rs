//! Reads workloads that people have in other formats. Each reader gives a [`Workload`](crate::workload::Workload).

pub mod fio;
