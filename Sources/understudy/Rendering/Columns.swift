/// Lines of text with aligned columns.
enum Columns {
    /// A table with a heading; cells are as wide as the widest of their column.
    static func table(_ heading: [String], _ rows: [[String]]) -> [String] {
        let all = [heading] + rows
        let widths = heading.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return trimmed(cells.joined(separator: "  "))
        }
    }

    /// Names and values, the values one under another; a value of several lines gets several.
    static func pairs(_ pairs: [(String, String)], indent: Int = 2) -> [String] {
        let width = pairs.map(\.0.count).max() ?? 0
        return pairs.map { name, value in
            let gap = String(repeating: " ", count: width - name.count + 2)
            return trimmed(String(repeating: " ", count: indent) + name + gap + value)
        }
    }

    private static func trimmed(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }
}
