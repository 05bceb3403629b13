/// Finds what somebody who misspelled a word probably meant.
enum NearMiss {
    /// The word with the fewest edits, if they are few: at most a third of its length.
    static func nearest(to text: String, among words: [String]) -> String? {
        let given = Array(text.lowercased().prefix(64))
        let ranked = words.map { ($0, distance(given, Array($0.lowercased()))) }
        guard let (word, edits) = ranked.min(by: { $0.1 < $1.1 }), edits <= max(1, word.count / 3) else { return nil }
        return word
    }

    /// How many letters must be added, dropped, changed or swapped with a neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var row = Array(0...right.count)
        for i in left.indices {
            var next = [i + 1]
            for j in right.indices {
                var edits = min(row[j] + (left[i] == right[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    edits = min(edits, before[j - 1] + 1)
                }
                next.append(edits)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}
