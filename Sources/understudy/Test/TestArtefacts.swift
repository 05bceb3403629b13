import Control
import Encoding
import Scenario

/// The files a test run leaves behind.
struct TestArtefacts: Sendable {
    /// The options that name them.
    static let options: [OptionSpec] = [
        .one("junit", "FILE", help: "write a JUnit report there"),
        .one("har", "FILE", help: "write the traffic there as HAR 1.2, without secrets"),
        .one("events", "FILE", help: "write the journals there as lines of JSON"),
        .one("report", "FILE", help: "write a page there for people to read"),
    ]

    /// What the hashes in the place of secrets are made with.
    let key: [UInt8]
    private let junit: String?
    private let har: String?
    private let events: String?
    private let page: String?

    /// Reads the options, and makes sure that the files can be written before anything is run.
    init(_ parsed: ParsedArguments, key: [UInt8]) throws(CommandFailure) {
        self.key = key
        (junit, har, events, page) = (parsed["junit"], parsed["har"], parsed["events"], parsed["report"])
        for path in [junit, har, events, page] { if let path { try Self.write("", to: path) } }
    }

    /// Writes what was asked for.
    func write(_ report: Report) throws(CommandFailure) {
        if let junit { try Self.write(JUnit.text(report, key: key), to: junit) }
        if let har { try Self.write(HTTPArchive.document(report, key: key).prettyText + "\n", to: har) }
        if let events { try Self.write(EventLines.text(report, key: key), to: events) }
        if let page { try Self.write(HTMLReport.text(report, key: key), to: page) }
    }

    private static func write(_ text: String, to path: String) throws(CommandFailure) {
        do throws(PrivateFileError) {
            try PrivateFile.write(Array(text.utf8), to: path)
        } catch {
            throw CommandFailure(exit: .cannotCreate, code: error.code, message: error.description)
        }
    }
}
