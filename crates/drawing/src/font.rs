//! How wide a text is. The widths are those of DejaVu Sans and Verdana, in thousandths of the
//! size; the other fonts that a viewer may take instead are narrower.

const REGULAR: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

const BOLD: [u16; 95] = [
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
    683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771,
    724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
    343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
];

pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let table = if bold { &BOLD } else { &REGULAR };
    let thousandths: u32 = text
        .chars()
        .map(|letter| {
            let at = (letter as usize).wrapping_sub(32);
            // Anything else is taken to be as wide as letters come.
            table.get(at).map_or(1000, |width| u32::from(*width))
        })
        .sum();
    f64::from(thousandths) * size / 1000.0
}

/// Breaks a text at spaces, and inside a word that is too long for any line.
pub fn wrap(text: &str, size: f64, bold: bool, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, size, bold) <= room {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for letter in word.chars() {
            if width(&line, size, bold) + width(&letter.to_string(), size, bold) > room
                && !line.is_empty()
            {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_nothing_is_lost() {
        let text = "SeatInventoryState.status = AVAILABLE or SeatHoldState.expires_at < now";
        let lines = wrap(text, 11.0, false, 120.0);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| width(line, 11.0, false) <= 120.0), "{lines:?}");
        let joined: String = lines.concat().split_whitespace().collect();
        assert_eq!(joined, text.split_whitespace().collect::<String>());
    }

    #[test]
    fn widths_grow_with_size_and_weight() {
        assert!(width("mm", 12.0, false) > width("ii", 12.0, false));
        assert!(width("hold", 12.0, true) > width("hold", 12.0, false));
        assert!((width("hold", 24.0, false) - 2.0 * width("hold", 12.0, false)).abs() < 1e-9);
    }
}
