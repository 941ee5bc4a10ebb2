//! The answer of a view for one group of rows.

use std::collections::BTreeMap;

use design::model::ViewForm;

use engine::Word;

use super::places::Places;
use super::row::{Row, first_number};
use super::sorted::Sorted;

#[derive(Debug, Default, Clone)]
pub struct Group {
    pub count: i64,
    /// wide, so that no sequence of rows overflows it
    pub sum: i128,
    pub sorted: Sorted,
    /// of a window: by the start of each stretch, how many rows and their sum
    pub stretches: BTreeMap<i64, (i64, i128)>,
    /// of rows by their distance
    pub places: Places,
}

impl Group {
    /// The same rows in the same order, however they came.
    pub fn says_the_same_as(&self, other: &Group) -> bool {
        (self.count, self.sum, &self.stretches) == (other.count, other.sum, &other.stretches)
            && self.sorted.from(0).eq(other.sorted.from(0))
            && self.places.len() == other.places.len()
    }

    pub fn add(&mut self, form: &ViewForm, row: &Row) {
        self.change(form, row, 1);
        if keeps_order(form) {
            self.sorted.insert(&row.sort);
        }
        if let Some(place) = row.place {
            self.places.insert(place, &row.sort);
        }
    }

    pub fn remove(&mut self, form: &ViewForm, row: &Row) {
        self.change(form, row, -1);
        if keeps_order(form) {
            self.sorted.remove(&row.sort);
        }
        if let Some(place) = row.place {
            self.places.remove(place, &row.sort);
        }
    }

    /// The value of the first row of a `max` or a `min`; none: there is no row.
    pub fn extreme(&self, greatest: bool) -> Option<Word> {
        self.sorted.from(0).next().map(|sort| first_number(sort, greatest))
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn change(&mut self, form: &ViewForm, row: &Row, by: i64) {
        self.count += by;
        self.sum += i128::from(row.value) * i128::from(by);
        if let ViewForm::Window { every, .. } = form {
            let start = row.at.div_euclid((*every).max(1)) * (*every).max(1);
            let stretch = self.stretches.entry(start).or_default();
            stretch.0 += by;
            stretch.1 += i128::from(row.value) * i128::from(by);
            if stretch.0 == 0 {
                self.stretches.remove(&start);
            }
        }
    }
}

/// Of a `max` or a `min` as well: the first row is the answer, and the one behind it the next.
fn keeps_order(form: &ViewForm) -> bool {
    matches!(form, ViewForm::List { .. } | ViewForm::Rank { .. } | ViewForm::Extreme { .. })
}
