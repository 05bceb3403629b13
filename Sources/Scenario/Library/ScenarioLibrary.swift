import Foundation

/// The scenario files of some paths, those that are scenarios and those that are not.
public struct ScenarioLibrary: Sendable {
    /// More files than this are not read.
    static let mostFiles = 10_000

    /// The scenarios, in the order of their paths.
    public private(set) var scenarios: [Scenario] = []
    /// The files that are none, each with its faults.
    public private(set) var broken: [BrokenFile] = []

    /// Reads files, and folders with all below them: every `*.json5` there.
    ///
    /// Throws ``LibraryError`` where a path is not there, or holds no scenario at all: a test run of nothing is none.
    public init(paths: [String]) throws(LibraryError) {
        for path in paths { try add(path) }
        try refuseTwins()
    }

    private mutating func add(_ path: String) throws(LibraryError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { throw .notThere(path) }
        let files = isFolder.boolValue ? try Self.files(below: path) : [path]
        for file in files { read(file) }
    }

    /// Paths of one file may differ; what counts is what they lead to.
    private mutating func refuseTwins() throws(LibraryError) {
        var seen: Set<String> = []
        for scenario in scenarios where !seen.insert(scenario.file).inserted { throw .twice(scenario.file) }
    }

    private static func files(below folder: String) throws(LibraryError) -> [String] {
        let base = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        var files: [String] = []
        for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            guard name.hasSuffix(".json5") else { continue }
            guard files.count < mostFiles else { throw .tooMany(folder, most: mostFiles) }
            files.append("\(base)/\(name)")
        }
        guard !files.isEmpty else { throw .empty(folder) }
        return files.sorted()
    }

    private mutating func read(_ file: String) {
        do throws(BrokenFile) {
            scenarios.append(try Scenario(file: file, text: try Self.text(of: file)))
        } catch {
            broken.append(error)
        }
    }

    /// The text of a file.
    ///
    /// Throws ``BrokenFile`` where it cannot be read, is too long, or is not UTF-8.
    static func text(of file: String) throws(BrokenFile) -> String {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw BrokenFile(file: file, "the file cannot be read")
        }
        guard data.count <= 1 << 20 else { throw BrokenFile(file: file, "a file has at most \(1 << 20) bytes") }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw BrokenFile(file: file, "the file is not UTF-8")
        }
        return text
    }
}

/// Why there is nothing to play.
public enum LibraryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no such file or folder.
    case notThere(String)
    /// A folder without a scenario.
    case empty(String)
    /// More files than can be played.
    case tooMany(String, most: Int)
    /// A file that is reached twice.
    case twice(String)

    /// A stable name for this error.
    public var code: String {
        switch self {
        case .notThere: "scenario.not_there"
        case .empty: "scenario.empty"
        case .tooMany: "scenario.too_many"
        case .twice: "scenario.twice"
        }
    }

    /// A sentence.
    public var description: String {
        switch self {
        case .notThere(let path): "there is no file or folder '\(path)'"
        case .empty(let path): "there is no *.json5 in '\(path)' or below it"
        case .tooMany(let path, let most): "there are more than \(most) scenarios in '\(path)'"
        case .twice(let file): "'\(file)' is named twice"
        }
    }
}
