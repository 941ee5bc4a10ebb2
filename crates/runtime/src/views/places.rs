//! Rows by where they are.
//!
//! Each row stands in an R*-tree as a point on the unit sphere in space. There the straight line between two points
//! grows with the way over the ground, so the tree's own order is the order by distance, everywhere: no pole, no date
//! line, no size of a cell to choose.

use rstar::RTree;
use rstar::primitives::GeomWithData;

/// The mean radius of the earth, in metres. A distance is along a great circle of a sphere, which is up to half a
/// percent from the one on an ellipsoid.
const EARTH_M: f64 = 6_371_008.8;

/// A point on the unit sphere.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place([f64; 3]);

impl Place {
    /// From degrees.
    pub fn new(longitude: f64, latitude: f64) -> Place {
        let (east, north) = (longitude.to_radians(), latitude.to_radians());
        Place([north.cos() * east.cos(), north.cos() * east.sin(), north.sin()])
    }

    pub fn to_bytes(self) -> Vec<u8> {
        self.0.iter().flat_map(|part| part.to_be_bytes()).collect()
    }

    /// As a point is stored: `[longitude,latitude]`. None: nothing that was ever written looks like it.
    pub fn stored(bytes: &[u8]) -> Option<Place> {
        let [longitude, latitude]: [f64; 2] = serde_json::from_slice(bytes).ok()?;
        Some(Place::new(longitude, latitude))
    }
}

/// The straight line between two points, squared, that stands for a way over the ground.
pub fn line_2(metres: f64) -> f64 {
    let half = (metres / EARTH_M / 2.0).min(std::f64::consts::FRAC_PI_2);
    4.0 * half.sin().powi(2)
}

/// The way over the ground that a straight line, squared, stands for.
pub fn metres(line_2: f64) -> f64 {
    2.0 * (line_2.sqrt() / 2.0).min(1.0).asin() * EARTH_M
}

/// The rows of a group, by where they are.
#[derive(Debug, Default, Clone)]
pub struct Places {
    /// each with what it sorts by, which ends in its key
    tree: RTree<GeomWithData<[f64; 3], Box<[u8]>>>,
}

impl Places {
    pub fn len(&self) -> usize {
        self.tree.size()
    }

    pub fn insert(&mut self, place: Place, sort: &[u8]) {
        self.tree.insert(GeomWithData::new(place.0, sort.into()));
    }

    pub fn remove(&mut self, place: Place, sort: &[u8]) {
        let gone = self.tree.remove(&GeomWithData::new(place.0, sort.into()));
        assert!(gone.is_some(), "a row is taken out where it was put in");
    }

    /// The nearest first, those at one distance in the order of their keys.
    pub fn from(&self, place: Place) -> impl Iterator<Item = (f64, &[u8])> {
        let near = self.tree.nearest_neighbor_iter_with_distance_2(&place.0);
        let mut near = near.map(|(row, line_2)| (line_2, &*row.data)).peekable();
        let mut equal: Vec<(f64, &[u8])> = Vec::new();
        std::iter::from_fn(move || {
            if equal.is_empty() {
                let first = near.next()?;
                equal.push(first);
                while let Some(next) = near.next_if(|next| next.0 <= first.0) {
                    equal.push(next);
                }
                equal.sort_by(|one, other| other.1.cmp(one.1));
            }
            equal.pop()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By another formula: the haversine of the angle between two places.
    fn by_haversine(a: (f64, f64), b: (f64, f64)) -> f64 {
        let (east, north) = ((b.0 - a.0).to_radians(), (b.1 - a.1).to_radians());
        let (south, top) = (a.1.to_radians(), b.1.to_radians());
        let h = (north / 2.0).sin().powi(2) + south.cos() * top.cos() * (east / 2.0).sin().powi(2);
        2.0 * h.sqrt().min(1.0).asin() * EARTH_M
    }

    struct Random(u64);

    impl Random {
        fn unit(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    #[test]
    fn rows_come_in_the_order_of_their_distance_also_at_the_poles_and_the_date_line() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut places = Places::default();
        let mut known: Vec<(f64, f64, Vec<u8>)> = Vec::new();
        for at in 0..3_000_u32 {
            let (longitude, latitude) = match at % 4 {
                0 => (random.unit() * 360.0 - 180.0, 90.0 - random.unit() * 0.1),
                1 => (180.0 - random.unit() * 0.1, random.unit() * 2.0 - 1.0),
                2 => (-180.0 + random.unit() * 0.1, random.unit() * 2.0 - 1.0),
                _ => (random.unit() * 360.0 - 180.0, random.unit() * 180.0 - 90.0),
            };
            let sort = at.to_be_bytes().to_vec();
            places.insert(Place::new(longitude, latitude), &sort);
            known.push((longitude, latitude, sort));
        }
        // every third goes again
        let mut at = 0;
        known.retain(|(longitude, latitude, sort)| {
            at += 1;
            if at % 3 == 0 {
                places.remove(Place::new(*longitude, *latitude), sort);
            }
            at % 3 != 0
        });
        for from in [(0.0, 90.0), (180.0, 0.0), (-180.0, 0.0), (8.54, 47.37), (17.0, -90.0)] {
            let mut expected: Vec<(f64, &[u8])> = known
                .iter()
                .map(|(e, n, sort)| (by_haversine(from, (*e, *n)), &sort[..]))
                .collect();
            expected.sort_by(|one, other| one.0.total_cmp(&other.0));
            let found: Vec<(f64, &[u8])> = places.from(Place::new(from.0, from.1)).collect();
            assert_eq!(found.len(), expected.len());
            for (at, ((line_2, sort), (far, _))) in found.iter().zip(&expected).enumerate() {
                // two formulas, each with its own rounding
                assert!((metres(*line_2) - far).abs() < 0.5, "{from:?} row {at} {sort:?}: {far}");
            }
            // and of each within 100 km exactly those, but for what lies within a metre of the edge
            let line = line_2(100_000.0);
            let inside = found.iter().filter(|(found, _)| *found <= line).count();
            let sure = expected.iter().filter(|(far, _)| *far < 99_999.0).count();
            let most = expected.iter().filter(|(far, _)| *far < 100_001.0).count();
            assert!((sure..=most).contains(&inside), "{inside} of {sure}..={most}");
        }
    }

    #[test]
    fn at_one_place_rows_come_in_the_order_of_their_keys() {
        let mut places = Places::default();
        for at in [3_u8, 1, 2, 9, 7] {
            places.insert(Place::new(8.0, 47.0), &[at]);
        }
        let found: Vec<&[u8]> = places.from(Place::new(8.1, 47.0)).map(|(_, sort)| sort).collect();
        assert_eq!(found, [&[1], &[2], &[3], &[7], &[9]]);
    }
}
