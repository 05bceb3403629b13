public import Encoding

/// A file that is no scenario, or no list of expected failures.
public struct BrokenFile: Error, Sendable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// Every fault, in the order of the file.
    public let faults: [FileFault]

    /// Names faults of one file, of which there is at least one.
    init(_ faults: [FileFault]) {
        file = faults.first?.file ?? ""
        self.faults = faults
    }

    /// A fault of the file as a whole.
    init(file: String, _ message: String) {
        self.init([FileFault(file: file, place: TextPlace(line: 1, column: 1), message: message)])
    }

    /// A line for each fault.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// A fault of a file: where, what the rule is, and what came.
public struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// Where in the file.
    public let place: TextPlace
    /// The rule and the value.
    public let message: String

    /// `file:line:column: message`.
    public var description: String { "\(file):\(place): \(message)" }
}
