import Encoding
import Engine
import Foundation
import Testing

/// The table in `docs/wrong-on-purpose.md` is what the code says.
@Suite struct WrongTableTests {
    private static let path = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/wrong-on-purpose.md").standardized.path()
    private static let begin = "swift test --filter WrongTableTests -->\n"
    private static let end = "<!-- end of table -->"

    @Test func `the page shows the table of the code`() throws {
        let page = try String(contentsOfFile: Self.path, encoding: .utf8)
        let begin = try #require(page.range(of: Self.begin)).upperBound
        let end = try #require(page.range(of: Self.end)).lowerBound
        if ProcessInfo.processInfo.environment["UNDERSTUDY_WRITE_DOCS"] == "1" {
            let written = page[..<begin] + Self.table + page[end...]
            try String(written).write(toFile: Self.path, atomically: true, encoding: .utf8)
            return
        }
        #expect(page[begin..<end] == Self.table)
    }

    private static var table: String {
        var lines = [
            "| wrong | source | what the phone does | at | a good server | finding |", "|---|---|---|---|---|---|",
        ]
        for row in WrongOnPurpose.table {
            // Calls with one answer share a line.
            var groups: [(places: [String], expectation: WrongOnPurpose.Expectation)] = []
            for place in row.places {
                guard let expectation = row.wrong.expectation(at: place) else { continue }
                if let index = groups.firstIndex(where: { $0.expectation == expectation }) {
                    groups[index].places.append(place.rawValue)
                } else {
                    groups.append(([place.rawValue], expectation))
                }
            }
            for group in groups {
                let cells = [
                    "`\(row.wrong.rawValue)`", row.source, row.meaning, group.places.joined(separator: ", "),
                    answer(group.expectation), group.expectation.rule.map { "`\($0)`" } ?? "",
                ]
                lines.append("| " + cells.joined(separator: " | ") + " |")
            }
        }
        return "\n" + lines.joined(separator: "\n") + "\n\n"
    }

    private static func answer(_ expectation: WrongOnPurpose.Expectation) -> String {
        let refusal =
            expectation.statuses.map(String.init).joined(separator: " or ") + " "
            + expectation.errors.map { "`\($0)`" }.joined(separator: " or ")
        return switch expectation.verdict {
        case .accepted: "accepts"
        case .refused: refusal
        case .either: refusal + ", or accepts"
        }
    }
}
