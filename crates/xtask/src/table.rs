//! Plain tables for the terminal: figures to the right, words to the left.

use std::fmt;

pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// A column is of figures when every cell below its head begins like one.
    fn is_figures(&self, column: usize) -> bool {
        let mut cells = self.rows[1..].iter().filter_map(|row| row.get(column)).peekable();
        cells.peek().is_some()
            && cells.all(|cell| cell == "-" || cell.starts_with(|c: char| c.is_ascii_digit()))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let shape: Vec<(usize, bool)> =
            (0..columns).map(|column| (width(column), self.is_figures(column))).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, (width, figures)) in row.iter().zip(&shape) {
                if *figures {
                    line.push_str(&format!("{cell:>width$}  "));
                } else {
                    line.push_str(&format!("{cell:<width$}  "));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn words_are_set_left_and_figures_right() {
        let mut table = Table::new(&["stage", "seconds", "result"]);
        table.row(["format".into(), "1.2".into(), "passed".into()]);
        table.row(["tests →".into(), "101.5".into(), "FAILED".into()]);
        assert_eq!(
            table.to_string(),
            "stage    seconds  result\nformat       1.2  passed\ntests →    101.5  FAILED\n"
        );
    }
}
