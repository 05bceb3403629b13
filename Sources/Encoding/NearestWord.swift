/// Finds what somebody who misspelled a word probably meant.
public enum NearestWord {
    /// The word with the fewest edits, if they are few: at most a third of its length.
    public static func nearest(to text: String, among words: [String]) -> String? {
        let given = Array(text.lowercased().prefix(64).utf8)
        let ranked = words.map { ($0, distance(given, Array($0.lowercased().utf8))) }
        guard let (word, edits) = ranked.min(by: { $0.1 < $1.1 }), edits <= max(1, word.count / 3) else { return nil }
        return word
    }

    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = byte == other ? diagonal : min(diagonal, above, row[column]) + 1
                diagonal = above
            }
        }
        return row[right.count]
    }
}
