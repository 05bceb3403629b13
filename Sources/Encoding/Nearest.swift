/// Finds the word somebody meant.
public enum Nearest {
    /// The candidate with the fewest changed letters, where few enough are, or nil.
    ///
    /// Upper and lower case are the same; few enough is at most a third of the word, at least one; a candidate that begins with the word counts as near.
    public static func match(_ word: String, among candidates: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        let lower = Array(word.lowercased())
        let scored = candidates.map { (name: $0, distance: distance(lower, Array($0.lowercased()))) }
        guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
        if best.distance <= max(1, word.count / 3) { return best.name }
        return candidates.first { word.count >= 2 && $0.hasPrefix(word) }
    }

    /// How many letters must be added, dropped, changed or swapped with a neighbour.
    public static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var previous = Array(0...right.count)
        for i in left.indices {
            var current = [i + 1]
            for j in right.indices {
                let change = previous[j] + (left[i] == right[j] ? 0 : 1)
                var best = min(change, previous[j + 1] + 1, current[j] + 1)
                let swapped = i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j]
                if swapped { best = min(best, before[j - 1] + 1) }
                current.append(best)
            }
            before = previous
            previous = current
        }
        return previous[right.count]
    }
}
