public import Encoding
internal import Glibc

/// Where a running daemon and its reference IdPs answer, as the daemon writes it down when it is ready.
public struct ReadyFile: Sendable, Equatable {
    /// The control API's URL; nil for a process that runs reference IdPs only.
    public let control: String?
    /// The process.
    public let pid: Int
    /// The program's version.
    public let version: String
    /// The reference IdPs.
    public let idps: [ServedIdP]

    /// Describes a process that is ready.
    public init(control: String?, pid: Int, version: String, idps: [ServedIdP]) {
        self.control = control
        self.pid = pid
        self.version = version
        self.idps = idps
    }
}

extension ReadyFile {
    /// The file's document.
    public var json: JSON {
        let control: [(String, JSON)] = control.map { [("control", .string($0))] } ?? []
        return .object(
            control + [
                ("pid", .int(Int64(pid))), ("version", .string(version)), ("idps", .array(idps.map(\.json))),
            ])
    }

    /// Reads the document; nil where it is not one, such as a file cut short.
    public init?(_ json: JSON) {
        guard let pid = json["pid"]?.int, let idps = json["idps"]?.array else { return nil }
        self.init(
            control: json["control"]?.string, pid: Int(pid), version: json["version"]?.string ?? "",
            idps: idps.compactMap(ServedIdP.init))
    }

    /// Reads the file at a path; nil where there is none or it is not a ready file.
    public static func read(at path: String) -> ReadyFile? {
        guard let bytes = PrivateFile.read(path, limit: 1 << 20) else { return nil }
        return (try? JSON(parsing: bytes)).flatMap(ReadyFile.init)
    }

    /// Writes the file so that a reader sees the whole of it or nothing, readable by its owner only.
    public func write(to path: String) throws(PrivateFileError) {
        try PrivateFile.write(json.serialized() + [UInt8(ascii: "\n")], to: path)
    }

    /// Removes the file, unless another process has written its own there since.
    public func remove(from path: String) {
        if ReadyFile.read(at: path)?.pid == pid { unlink(path) }
    }

    /// Whether the process that wrote the file still runs.
    public var isFromRunningProcess: Bool {
        kill(pid_t(truncatingIfNeeded: pid), 0) == 0 || errno == EPERM
    }
}

extension ServedIdP {
    /// Reads an IdP as the ready file and the control API show it; nil where the document lacks something.
    public init?(_ json: JSON) {
        guard let system = json["system"]?.string, let origin = json["origin"]?.string,
            let api = json["api"]?.string, let issuers = json["issuers"]?.array
        else { return nil }
        self.init(system: system, origin: origin, api: api, issuers: issuers.compactMap(\.string))
    }
}
