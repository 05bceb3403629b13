import Encoding
internal import Glibc
import Synchronization

/// Where snapshots are kept: files of a directory for their owner only, or memory.
public final class SnapshotShelf: Sendable {
    /// How many there may be.
    static let limit = 256
    /// The largest that is read, in bytes.
    static let largest = 1 << 30

    private let directory: String?
    private let kept = Mutex<[String: [UInt8]]>([:])

    private init(_ directory: String?) { self.directory = directory }

    /// Keeps snapshots in memory: they are gone with the process.
    public static func inMemory() -> SnapshotShelf { SnapshotShelf(nil) }

    /// Keeps snapshots in `snapshots` of a state directory, each a file of mode 0600.
    public static func inState(_ directory: String) -> SnapshotShelf { SnapshotShelf(directory + "/snapshots") }

    /// Keeps a snapshot, in place of an earlier one of that name.
    func put(_ bytes: [UInt8], as name: String) throws(PrivateFileError) {
        guard let directory else { return kept.withLock { $0[name] = bytes } }
        mkdir(directory, 0o700)
        try PrivateFile.write(bytes, to: path(name, in: directory))
    }

    /// A snapshot; nil where there is none of that name.
    func get(_ name: String) -> [UInt8]? {
        guard let directory else { return kept.withLock { $0[name] } }
        return PrivateFile.read(path(name, in: directory), limit: Self.largest)
    }

    /// Removes a snapshot; tells whether there was one.
    func remove(_ name: String) -> Bool {
        guard let directory else { return kept.withLock { $0.removeValue(forKey: name) } != nil }
        return unlink(path(name, in: directory)) == 0
    }

    /// What there is, by name, each with its size in bytes.
    var list: [(name: String, bytes: Int)] {
        guard let directory else {
            return kept.withLock { $0.map { ($0.key, $0.value.count) } }.sorted { $0.0 < $1.0 }
        }
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var found: [(name: String, bytes: Int)] = []
        while let entry = readdir(folder) {
            let file = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard file.hasSuffix(Self.suffix) else { continue }
            var status = stat()
            guard stat(directory + "/" + file, &status) == 0 else { continue }
            found.append((String(file.dropLast(Self.suffix.count)), Int(status.st_size)))
        }
        return found.sorted { $0.name < $1.name }
    }

    private static let suffix = ".json"

    private func path(_ name: String, in directory: String) -> String { "\(directory)/\(name)\(Self.suffix)" }
}
