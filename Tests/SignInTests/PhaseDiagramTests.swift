import Foundation
import Testing

@Suite struct PhaseDiagramTests {
    /// The root of the package, from where this file is.
    private var document: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(PhaseTable.path)
    }

    @Test func `the published phase diagram is the machine's own`() throws {
        let printed = try PhaseTable.markdown()
        if ProcessInfo.processInfo.environment["UNDERSTUDY_WRITE_DOCS"] != nil {
            try printed.write(to: document, atomically: true, encoding: .utf8)
        }
        let published = try String(contentsOf: document, encoding: .utf8)
        #expect(published == printed, "docs/phases.md is out of date; it says how to write it anew")
    }
}
