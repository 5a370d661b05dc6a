//! Lists of numbers as ranges.

/// `0-3,7` for 0, 1, 2, 3 and 7; the numbers must ascend.
pub fn ranges(numbers: &[u32]) -> String {
    let starts = numbers.iter().enumerate().filter(|(index, number)| *index == 0 || numbers[index - 1] + 1 != **number);
    let run = |(index, first): (usize, &u32)| {
        let count = numbers[index..].iter().zip(*first..).take_while(|(number, expected)| *number == expected).count() as u32;
        if count == 1 { first.to_string() } else { format!("{first}-{}", first + count - 1) }
    };
    starts.map(run).collect::<Vec<_>>().join(",")
}
