//! Days of the Gregorian calendar, counted from the first of January 1970.

pub(crate) const DAY: i64 = 86_400;

/// The day of a date (Hinnant, *chrono-compatible low-level date algorithms*).
pub(crate) fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let in_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era * 146_097 + in_era - 719_468
}

/// Year, month and day.
pub(crate) fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let in_era = day.rem_euclid(146_097);
    let of_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let of_year = in_era - (365 * of_era + of_era / 4 - of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (of_era + era * 400 + i64::from(month <= 2), month, date)
}

/// Sunday is 0.
pub(crate) fn weekday_of(day: i64) -> u32 {
    (day + 4).rem_euclid(7) as u32
}

pub(crate) fn days_in(year: i64, month: i64) -> u32 {
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_one_to_one() {
        assert_eq!((day_of(1970, 1, 1), weekday_of(0)), (0, 4));
        assert_eq!((day_of(2000, 2, 29), weekday_of(day_of(2000, 2, 29))), (11_016, 2));
        let mut day = day_of(1599, 12, 31);
        for year in 1600..=2400 {
            for month in 1..=12 {
                for date in 1..=days_in(year, month) {
                    day += 1;
                    assert_eq!(day_of(year, month, i64::from(date)), day);
                    assert_eq!(date_of(day), (year, month, i64::from(date)));
                }
            }
        }
    }
}
