public import Encoding

/// Where a running daemon and its reference IdPs answer, as the daemon writes it down when it is ready.
public struct ReadyFile: Sendable, Equatable {
    /// One reference IdP of the process.
    public struct IdP: Sendable, Equatable {
        /// The system it stands for, such as `sensecrypt`.
        public let system: String
        /// The origin of its issuers.
        public let origin: String
        /// The origin of its resource API.
        public let api: String
        /// The URL of its management API.
        public let management: String
        /// Its issuers.
        public let issuers: [String]

        /// Describes a reference IdP.
        public init(system: String, origin: String, api: String, management: String, issuers: [String]) {
            self.system = system
            self.origin = origin
            self.api = api
            self.management = management
            self.issuers = issuers
        }
    }

    /// The control API's URL; nil for a process that runs reference IdPs only.
    public let control: String?
    /// The process.
    public let pid: Int
    /// The program's version.
    public let version: String
    /// The reference IdPs.
    public let idps: [IdP]

    /// Describes a process that is ready.
    public init(control: String?, pid: Int, version: String, idps: [IdP]) {
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
            idps: idps.compactMap(IdP.init))
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
}

extension ReadyFile.IdP {
    /// The member of the file's `idps`, and of the control API's `/v1/idps`.
    public var json: JSON {
        [
            "system": .string(system), "origin": .string(origin), "api": .string(api),
            "management": .string(management), "issuers": .array(issuers.map(JSON.string)),
        ]
    }

    /// Reads such a member; nil where it lacks something.
    public init?(_ json: JSON) {
        guard let system = json["system"]?.string, let origin = json["origin"]?.string,
            let management = json["management"]?.string
        else { return nil }
        self.init(
            system: system, origin: origin, api: json["api"]?.string ?? "", management: management,
            issuers: (json["issuers"]?.array ?? []).compactMap(\.string))
    }
}
