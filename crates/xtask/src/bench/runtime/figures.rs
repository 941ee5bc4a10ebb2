//! What is asked of a system, and what it answers.

use serde_json::Value;

/// One cell of the table.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub clients: usize,
    pub keys: u64,
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub per_second: f64,
    /// Of the process in which transitions are made: for a server, the server alone.
    pub cpu_us_each: f64,
    /// Of the clients, where they are a process of their own and it is known.
    pub client_cpu_us_each: Option<f64>,
    pub p50_us: f64,
    pub p99_us: f64,
    /// Written to the log, where it is known.
    pub bytes_each: Option<f64>,
}

pub trait System {
    fn name(&self) -> &'static str;

    fn measure(&mut self, load: &Load) -> Result<Figures, String>;
}

/// All the runs of one system under one load.
#[derive(Debug)]
pub struct Cell {
    pub system: &'static str,
    pub shape: &'static str,
    pub clients: usize,
    pub runs: Vec<Figures>,
}

pub fn add(
    cells: &mut Vec<Cell>,
    system: &'static str,
    shape: &'static str,
    clients: usize,
    figures: Figures,
) {
    let same =
        |cell: &&mut Cell| cell.system == system && cell.shape == shape && cell.clients == clients;
    match cells.iter_mut().find(same) {
        Some(cell) => cell.runs.push(figures),
        None => cells.push(Cell { system, shape, clients, runs: vec![figures] }),
    }
}

/// The line that the example `transitions` prints.
pub fn parse(stdout: &str) -> Result<Figures, String> {
    let value: Value = serde_json::from_str(stdout.trim())
        .map_err(|e| format!("the example `transitions` printed no JSON: {e}"))?;
    let field = |name: &str| {
        value[name].as_f64().ok_or_else(|| format!("the example `transitions` gave no `{name}`"))
    };
    Ok(Figures {
        per_second: field("per_second")?,
        cpu_us_each: field("cpu_us_each")?,
        client_cpu_us_each: value["client_cpu_us_each"].as_f64(),
        p50_us: field("p50_us")?,
        p99_us: field("p99_us")?,
        bytes_each: Some(field("bytes_each")?).filter(|bytes| *bytes > 0.0),
    })
}

/// The value at a share of the way through.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((share * last as f64) as usize).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_line_is_read_whole_or_not_at_all() {
        let line =
            "{\"per_second\":10,\"cpu_us_each\":2.5,\"p50_us\":7,\"p99_us\":9,\"bytes_each\":0}";
        let figures = parse(line).unwrap();
        assert_eq!((figures.cpu_us_each, figures.bytes_each), (2.5, None));
        assert!(parse("{\"per_second\":10}").unwrap_err().contains("`cpu_us_each`"));
        assert!(parse("no").unwrap_err().contains("no JSON"));
    }

    #[test]
    fn runs_of_one_cell_are_kept_together() {
        let figures = Figures {
            per_second: 1.0,
            cpu_us_each: 1.0,
            client_cpu_us_each: None,
            p50_us: 1.0,
            p99_us: 1.0,
            bytes_each: None,
        };
        let mut cells = Vec::new();
        add(&mut cells, "a", "uniform", 1, figures);
        add(&mut cells, "b", "uniform", 1, figures);
        add(&mut cells, "a", "uniform", 1, figures);
        assert_eq!(cells.iter().map(|cell| cell.runs.len()).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn percentiles_of_a_sorted_list() {
        let sorted: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!((percentile(&sorted, 0.5), percentile(&sorted, 0.99)), (50.0, 99.0));
        assert!(percentile(&[], 0.5).is_nan());
    }
}
