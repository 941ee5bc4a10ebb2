//! Random schedules and instants, decided by a seed, and what their fields mean, written a second time.

use calendar::Zone;

/// Europe, America north and south, Australia with half an hour, Africa with changes in both directions of the
/// year, Asia without any, and UTC.
pub const ZONES: [&str; 10] = [
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "UTC",
];

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % most
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }
}

/// The ends of the six fields.
const ENDS: [(i64, i64); 6] = [(0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
const MONTHS: [&str; 12] =
    ["jan", "FEB", "mar", "APR", "May", "jun", "JUL", "aug", "SEP", "oct", "nov", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "mon", "Tue", "WED", "thu", "FRI", "sat"];

/// A line of cron with the values of each field.
pub struct Line {
    pub text: String,
    values: [Vec<i64>; 6],
    either_day: bool,
    pub every_hour: bool,
}

fn field(dice: &mut Dice, at: usize, stars: u64) -> (String, Vec<i64>) {
    let (low, high) = ENDS[at];
    if dice.below(10) < stars {
        if dice.below(4) > 0 {
            return ("*".into(), (low..=high).collect());
        }
        let step = dice.between(2, (high - low).min(20));
        return (format!("*/{step}"), (low..=high).step_by(step as usize).collect());
    }
    let (mut texts, mut values) = (Vec::new(), Vec::new());
    for _ in 0..=dice.below(3) {
        let one = dice.between(low, high);
        let other = dice.between(one, high);
        match dice.below(4) {
            0 if other > one + 1 => {
                let step = dice.between(1, other - one);
                texts.push(format!("{one}-{other}/{step}"));
                values.extend((one..=other).step_by(step as usize));
            }
            1 if other > one => {
                texts.push(format!("{one}-{other}"));
                values.extend(one..=other);
            }
            2 if at == 4 => {
                texts.push(MONTHS[one as usize - 1].into());
                values.push(one);
            }
            2 if at == 5 => {
                texts.push(WEEKDAYS[one as usize].into());
                values.push(one);
            }
            _ => {
                texts.push(one.to_string());
                values.push(one);
            }
        }
    }
    (texts.join(","), values)
}

impl Line {
    pub fn random(dice: &mut Dice, seconds: bool) -> Line {
        // how often of ten a field is a star
        let stars = [3, 3, 4, 6, 6, 6];
        let mut fields: Vec<(String, Vec<i64>)> =
            (0..6).map(|at| field(dice, at, stars[at])).collect();
        // clocks change in the small hours
        if dice.below(3) == 0 {
            let hour = dice.between(0, 3);
            fields[2] = (hour.to_string(), vec![hour]);
        }
        if !seconds {
            fields[0] = ("0".into(), vec![0]);
        }
        let texts: Vec<&str> = fields.iter().map(|(text, _)| &**text).collect();
        let star = |at: usize| texts[at].starts_with('*');
        let (either_day, every_hour) = (!star(3) && !star(5), star(2));
        let text = texts[usize::from(!seconds)..].join(" ");
        let values: Vec<Vec<i64>> = fields.into_iter().map(|(_, values)| values).collect();
        let values = values.try_into().expect("there are six fields");
        Line { text, values, either_day, every_hour }
    }

    pub fn with_seconds(&self) -> bool {
        self.text.split(' ').count() == 6
    }

    /// Does a day of the local calendar match, counted from 1970?
    pub fn has_day(&self, day: i64) -> bool {
        let date = jiff_free_date(day);
        let weekday = (day + 4).rem_euclid(7);
        let (dated, named) = (self.values[3].contains(&date.2), self.values[5].contains(&weekday));
        let days = if self.either_day { dated || named } else { dated && named };
        days && self.values[4].contains(&date.1)
    }

    /// Does a local second match?
    pub fn matches(&self, local: i64) -> bool {
        let second = local.rem_euclid(86_400);
        self.values[0].contains(&(second % 60))
            && self.values[1].contains(&(second / 60 % 60))
            && self.values[2].contains(&(second / 3_600))
            && self.has_day(local.div_euclid(86_400))
    }
}

/// Year, month and day, by walking from 1970.
fn jiff_free_date(day: i64) -> (i64, i64, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut left) = (1970, day);
    while left < 0 {
        year -= 1;
        left += 365 + i64::from(leap(year));
    }
    while left >= 365 + i64::from(leap(year)) {
        left -= 365 + i64::from(leap(year));
        year += 1;
    }
    let february = 28 + i64::from(leap(year));
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= months[month] {
        left -= months[month];
        month += 1;
    }
    (year, month as i64 + 1, left + 1)
}

/// A second between 1990 and 2037; every second one lies near a change of the clock, if the zone has any.
pub fn instant(dice: &mut Dice, zone: &Zone) -> i64 {
    let anywhere = 631_152_000 + dice.below(1_483_228_800) as i64;
    if dice.below(2) == 0 {
        return anywhere;
    }
    match zone.change_after(anywhere) {
        Some(change) if change < 2_114_380_800 => {
            let before = [7_200, 86_400][dice.below(2) as usize];
            change - before + dice.below(before as u64 + 7_200) as i64
        }
        _ => anywhere,
    }
}
