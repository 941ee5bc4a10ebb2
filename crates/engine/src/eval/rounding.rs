//! Products and quotients of decimals: exact in 128 bits, then rounded once.

use design::model::{Rounding, RoundingMode};

use crate::Word;
use crate::program::node::{Rounded, Sides};

/// Decimal places of what is kept.
const PLACES: u32 = 6;

/// None: it does not fit. Whoever divides has made sure that it is not by 0.
pub(super) fn compute(how: Rounded, left: Word, right: Word) -> Option<Word> {
    let (left, right) = (i128::from(left), i128::from(right));
    let digits = u32::from(how.rounding.digits).min(PLACES);
    let (left_places, right_places) = match how.sides {
        Sides::Both => (PLACES, PLACES),
        Sides::Left => (PLACES, 0),
        Sides::Right => (0, PLACES),
    };
    // The result in units of its last digit is `above / below`.
    let (above, below) = if how.divide {
        (left * ten_to(right_places + digits), right * ten_to(left_places))
    } else {
        (left * right, ten_to(left_places + right_places - digits))
    };
    let units = round(above, below, how.rounding.mode);
    let millionths = units.checked_mul(ten_to(PLACES - digits))?;
    Word::try_from(millionths).ok()
}

/// The k-th of n in one word; none: there is no such part.
pub(super) fn place(count: Word, at: Word) -> Option<Word> {
    let fits = 1 <= at && at <= count && count <= Word::from(i32::MAX);
    fits.then_some(count << 32 | at)
}

/// One part of a decimal. Each has the same number of units, the first ones one more until the units are used up, and the
/// first what is smaller than a unit. So all of them together are the whole. None: not a place.
pub(super) fn part(digits: u8, whole: Word, place: Word) -> Option<Word> {
    let (count, at) = (place >> 32, place & Word::from(u32::MAX));
    if count < 1 {
        return None;
    }
    let unit = 10_i64.pow(PLACES - u32::from(digits).min(PLACES));
    let (units, rest) = (whole / unit, whole % unit);
    let (each, over) = (units / count, units % count);
    let one_more = if at <= over.abs() { over.signum() } else { 0 };
    let smaller = if at == 1 { rest } else { 0 };
    Some((each + one_more) * unit + smaller)
}

/// The average of `count` numbers with this sum, in millionths: exact, then rounded once. The sum has so many
/// decimal places.
pub fn average((sum, places): (i128, u32), count: i64, rounding: Rounding) -> i128 {
    assert!(count > 0 && places <= PLACES, "an average is of something");
    let digits = u32::from(rounding.digits).min(PLACES);
    // 2^43 rows of 64 bits, which no memory holds, times 10^6
    let above = sum.checked_mul(ten_to(digits)).expect("a sum of rows in memory has room");
    round(above, i128::from(count) * ten_to(places), rounding.mode) * ten_to(PLACES - digits)
}

fn ten_to(power: u32) -> i128 {
    10_i128.pow(power)
}

fn round(above: i128, below: i128, mode: RoundingMode) -> i128 {
    let (towards_zero, rest) = (above / below, above % below);
    if rest == 0 {
        return towards_zero;
    }
    let twice = 2 * rest.unsigned_abs();
    let middle = below.unsigned_abs();
    let further = match mode {
        RoundingMode::Down => false,
        RoundingMode::Up => true,
        RoundingMode::HalfUp => twice >= middle,
        RoundingMode::HalfEven => twice > middle || twice == middle && towards_zero % 2 != 0,
    };
    match further {
        true if (above < 0) == (below < 0) => towards_zero + 1,
        true => towards_zero - 1,
        false => towards_zero,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_rounded_once_from_the_exact_value() {
        let check = |sum: i128, places: u32, count: i64, digits: u8, expected: [i128; 4]| {
            let found = RoundingMode::ALL
                .map(|(mode, _)| average((sum, places), count, Rounding { mode, digits }));
            assert_eq!(found, expected, "{sum} {places} {count} {digits}");
        };
        // 10 / 4 = 2.5, 2 / 3, -1 / 8, and 0.25 / 2 = 0.125
        check(10, 0, 4, 0, [2_000_000, 3_000_000, 2_000_000, 3_000_000]);
        check(2, 0, 3, 2, [670_000, 670_000, 660_000, 670_000]);
        check(-1, 0, 8, 2, [-120_000, -130_000, -120_000, -130_000]);
        check(250_000, 6, 2, 2, [120_000, 130_000, 120_000, 130_000]);
        check(i128::from(i64::MAX) << 40, 0, 1 << 40, 6, [i128::from(i64::MAX) * 1_000_000; 4]);
    }

    fn how(divide: bool, sides: Sides, mode: RoundingMode, digits: u8) -> Rounded {
        Rounded { divide, sides, rounding: Rounding { mode, digits } }
    }

    /// Parts of any whole are the whole together, and differ by one unit at most, but for what is smaller than one.
    #[test]
    fn parts_are_the_whole_together() {
        let part_of = |digits, whole, count, at| part(digits, whole, place(count, at)?);
        let ten = [1, 2, 3].map(|at| part_of(2, 10_000_000, 3, at));
        assert_eq!(ten, [3_340_000, 3_330_000, 3_330_000].map(Some));
        let owed = [1, 2, 3].map(|at| part_of(2, -50_000, 3, at));
        assert_eq!(owed, [-20_000, -20_000, -10_000].map(Some));
        // 0.012345 to cents: the first has what is smaller than a cent
        assert_eq!([1, 2].map(|at| part_of(2, 12_345, 2, at)), [12_345, 0].map(Some));
        assert_eq!(part_of(2, 1_000_000, 3, 0), None);
        assert_eq!(part_of(2, 1_000_000, 3, 4), None);
        assert_eq!(part_of(2, 1_000_000, 0, 1), None);
        let mut random = 7_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 1) as Word >> (random >> 59)
        };
        for _ in 0..100_000 {
            let (sign, size) = (if next() & 1 == 0 { 1 } else { -1 }, next());
            let (whole, count, digits) = (sign * size, next() % 40 + 1, (next() % 7) as u8);
            let parts: Vec<Word> =
                (1..=count).map(|at| part_of(digits, whole, count, at).unwrap()).collect();
            assert_eq!(parts.iter().sum::<Word>(), whole, "{whole} {count} {digits}");
            let unit = 10_i64.pow(PLACES - u32::from(digits));
            let rest = whole % unit;
            let units: Vec<Word> = [&[parts[0] - rest], &parts[1..]].concat();
            assert!(units.iter().all(|part| part % unit == 0));
            let (most, least) = (units.iter().max().unwrap(), units.iter().min().unwrap());
            assert!(most - least <= unit, "{whole} {count} {digits}");
        }
    }

    /// In the order of `RoundingMode::ALL`: half_even, half_up, down, up.
    #[test]
    fn known_cases_are_as_the_decimal_module_of_python_has_them() {
        let check = |divide: bool, left: Word, right: Word, digits: u8, expected: [Word; 4]| {
            let found = RoundingMode::ALL
                .map(|(mode, _)| compute(how(divide, Sides::Both, mode, digits), left, right));
            assert_eq!(found, expected.map(Some), "{left} {right} {digits} {divide}");
        };
        // 100 * 0.029 = 2.9; 0.5 * 0.05 = 0.025; 0.7 * 0.05 = 0.035
        check(false, 100_000_000, 29_000, 2, [2_900_000; 4]);
        check(false, 500_000, 50_000, 2, [20_000, 30_000, 20_000, 30_000]);
        check(false, 700_000, 50_000, 2, [40_000, 40_000, 30_000, 40_000]);
        check(false, -500_000, 50_000, 2, [-20_000, -30_000, -20_000, -30_000]);
        // 10 / 3, 2 / 3, -1 / 8, 5 / 2 without a fraction
        check(true, 10_000_000, 3_000_000, 2, [3_330_000, 3_330_000, 3_330_000, 3_340_000]);
        check(true, 2_000_000, 3_000_000, 6, [666_667, 666_667, 666_666, 666_667]);
        check(true, -1_000_000, 8_000_000, 2, [-120_000, -130_000, -120_000, -130_000]);
        check(true, 5_000_000, 2_000_000, 0, [2_000_000, 3_000_000, 2_000_000, 3_000_000]);
        check(true, 1, 3_000_000, 2, [0, 0, 0, 10_000]);
    }

    #[test]
    fn what_does_not_fit_is_no_number() {
        let (up, both) = (RoundingMode::Up, Sides::Both);
        assert_eq!(compute(how(false, both, up, 2), Word::MAX, 2_000_000), None);
        assert_eq!(compute(how(true, both, up, 2), Word::MAX, 1), None);
        assert_eq!(compute(how(true, both, up, 0), Word::MAX, 1_000_000), None);
        assert_eq!(compute(how(false, both, up, 0), Word::MIN + 1, Word::MIN + 1), None);
        assert_eq!(compute(how(true, Sides::Right, up, 6), Word::MIN + 1, 1), None);
    }

    /// A sequence that is the same every time.
    struct Draw(u64);

    impl Draw {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 1
        }

        /// Small ones as often as large ones, and many that end in zeros or in the middle.
        fn number(&mut self) -> Word {
            let size = 1 + self.next() % 44;
            let unit = [1, 1, 10, 5_000, 10_000, 500_000][(self.next() % 6) as usize];
            let value = (self.next() % (1 << size)) as Word;
            let value = if unit > 1 { (value % 1_000_000) * unit } else { value };
            if self.next().is_multiple_of(2) { value } else { -value }
        }
    }

    /// By the definition of each mode, in integers, without a division: `shown` is the exact value,
    /// `above / below`, rounded to whole units.
    fn is_right(above: i128, below: i128, shown: i128, mode: RoundingMode) -> bool {
        let (above, below) = if below < 0 { (-above, -below) } else { (above, below) };
        let off = above - shown * below;
        let nearest = 2 * off.abs() <= below;
        let in_the_middle = 2 * off.abs() == below;
        let nearer_to_zero = (shown * below).abs() <= above.abs();
        let same_sign = shown == 0 || (shown < 0) == (above < 0);
        same_sign
            && match mode {
                RoundingMode::HalfEven => nearest && (!in_the_middle || shown % 2 == 0),
                RoundingMode::HalfUp => nearest && (!in_the_middle || !nearer_to_zero),
                RoundingMode::Down => off.abs() < below && nearer_to_zero,
                RoundingMode::Up => off.abs() < below && (off == 0 || !nearer_to_zero),
            }
    }

    #[test]
    fn a_hundred_thousand_pairs_of_each_mode_are_rounded_by_its_definition() {
        for (number, (mode, name)) in RoundingMode::ALL.into_iter().enumerate() {
            let mut draw = Draw(0x5EED + number as u64);
            let (mut products, mut quotients, mut middles) = (0, 0, 0);
            while products < 100_000 || quotients < 100_000 {
                let (left, right) = (draw.number(), draw.number());
                let digits = (draw.next() % 7) as u8;
                let sides = [Sides::Both, Sides::Left, Sides::Right][(draw.next() % 3) as usize];
                let divide = draw.next().is_multiple_of(2);
                if divide && right == 0 {
                    continue;
                }
                let Some(found) = compute(how(divide, sides, mode, digits), left, right) else {
                    continue;
                };
                // the exact value in millionths is `above / below`
                let million = 1_000_000_i128;
                let (l, r) = (i128::from(left), i128::from(right));
                let (above, below) = match (divide, sides) {
                    (false, Sides::Both) => (l * r, million),
                    (false, _) => (l * r, 1),
                    (true, Sides::Both) => (l * million, r),
                    (true, Sides::Left) => (l, r),
                    (true, Sides::Right) => (l * million * million, r),
                };
                let unit = 10_i128.pow(6 - u32::from(digits));
                let found = i128::from(found);
                assert_eq!(found % unit, 0, "{name} {left} {right} {digits}");
                let fine = is_right(above, below * unit, found / unit, mode);
                assert!(fine, "{name} {left} {right} to {digits}, {sides:?}, {divide}: {found}");
                middles +=
                    u32::from((2 * above) % (below * unit) == 0 && above % (below * unit) != 0);
                *(if divide { &mut quotients } else { &mut products }) += 1;
            }
            assert!(middles > 1_000, "{name}: only {middles} lie in the middle");
        }
    }
}
