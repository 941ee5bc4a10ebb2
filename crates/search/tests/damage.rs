//! Files of an index that are not as they were written: it is built anew, and answers as before.

use crate::support::{Chance, DESIGN, Directory, files, found, offer};

fn filled(directory: &Directory) {
    let runtime = directory.open(DESIGN);
    let mut chance = Chance::of_seed(7);
    for at in 0..40 {
        offer(&runtime, &format!("i{at}"), &format!("bike {}", chance.text(6)), None, "");
    }
    assert_eq!(found(&runtime, "Titles", "bike").len(), 40);
}

#[test]
fn a_damaged_file_is_noticed_and_the_index_built_anew() {
    let directory = Directory::new("damage");
    filled(&directory);
    let index = directory.indexes().join("Market.Titles");
    let whole: Vec<(std::path::PathBuf, Vec<u8>)> = files(&index)
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect();
    let expected = {
        let runtime = directory.open(DESIGN);
        found(&runtime, "Titles", "bike b*")
    };
    let mut chance = Chance::of_seed(3);
    let mut tried = 0;
    for (at, (_, bytes)) in whole.iter().enumerate() {
        for way in ["flip", "cut", "gone"] {
            if bytes.is_empty() && way != "gone" {
                continue;
            }
            // as it was, with one thing wrong
            std::fs::remove_dir_all(&index).unwrap();
            for (file, bytes) in &whole {
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, bytes).unwrap();
            }
            let (file, bytes) = &whole[at];
            match way {
                "flip" => {
                    let mut bytes = bytes.clone();
                    let place = chance.below(bytes.len());
                    bytes[place] ^= 0x10;
                    std::fs::write(file, bytes).unwrap();
                }
                "cut" => std::fs::write(file, &bytes[..chance.below(bytes.len())]).unwrap(),
                _ => std::fs::remove_file(file).unwrap(),
            }
            let runtime = directory.open(DESIGN);
            let name = file.file_name().unwrap().to_string_lossy();
            assert_eq!(found(&runtime, "Titles", "bike b*"), expected, "{name}: {way}");
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried} ways");
}

#[test]
fn an_index_of_another_store_is_not_taken_for_this_one() {
    let directory = Directory::new("ahead");
    filled(&directory);
    // the store begins anew: what the index says of it is ahead
    std::fs::remove_dir_all(directory.0.join("store")).unwrap();
    let runtime = directory.open(DESIGN);
    assert_eq!(found(&runtime, "Titles", "bike"), [""; 0]);
    offer(&runtime, "new", "bike", None, "");
    assert_eq!(found(&runtime, "Titles", "bike"), ["new"]);
}
