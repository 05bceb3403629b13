import Encoding

/// The key attestation extension of Android, read exactly: eight members, known tags, each once and in order.
struct KeyDescription: Sendable {
    static let oid = "1.3.6.1.4.1.11129.2.1.17"

    let version: Int64
    let level: Int64
    let keyMintVersion: Int64
    let keyMintLevel: Int64
    let challenge: [UInt8]
    let uniqueID: [UInt8]
    let software: AuthorizationList
    let hardware: AuthorizationList

    init(_ bytes: [UInt8]) throws(DERError) {
        let parts = try DERElement(parsing: bytes).sequence()
        guard parts.count == 8 else { throw DERError(rule: .value, offset: 0) }
        version = try parts[0].integer()
        level = try parts[1].enumerated()
        keyMintVersion = try parts[2].integer()
        keyMintLevel = try parts[3].enumerated()
        challenge = try parts[4].octetString()
        uniqueID = try parts[5].octetString()
        software = try AuthorizationList(parts[6])
        hardware = try AuthorizationList(parts[7])
    }

    /// What is enforced where the key lives: in software only for a software key.
    func enforced(_ tag: Int) -> DERElement? { level == 0 ? software[tag] ?? hardware[tag] : hardware[tag] }
}

/// An AuthorizationList: explicit context tags in ascending order.
struct AuthorizationList: Sendable {
    private let elements: [Int: DERElement]
    let tags: [Int]

    init(_ list: DERElement) throws(DERError) {
        var elements: [Int: DERElement] = [:]
        var tags: [Int] = []
        for part in try list.sequence() {
            guard let tag = part.contextTag, tag > tags.last ?? 0 else {
                throw DERError(rule: .tag, offset: part.offset)
            }
            elements[tag] = try part.explicit(tag)
            tags.append(tag)
        }
        self.elements = elements
        self.tags = tags
    }

    subscript(tag: Int) -> DERElement? { elements[tag] }

    /// Tags nobody documents, or that say the key is everybody's (600).
    var unknownTags: [Int] { tags.filter { !Self.known.contains($0) } }

    private static let known: Set<Int> = Set(
        [1, 2, 3, 5, 6, 10, 200, 203, 303, 305, 400, 401, 402, 405] + Array(503...509) + [701, 702, 704, 705, 706]
            + Array(709...720) + [723, 724])
}

/// How the phone booted.
struct RootOfTrust: Sendable {
    let key: [UInt8]
    let isLocked: Bool
    /// 0 verified, 1 self-signed, 2 unverified, 3 failed.
    let state: Int64
    let hash: [UInt8]

    init(_ element: DERElement) throws(DERError) {
        let parts = try element.sequence()
        guard parts.count == 4 else { throw DERError(rule: .value, offset: element.offset) }
        key = try parts[0].octetString()
        isLocked = try parts[1].boolean()
        state = try parts[2].enumerated()
        hash = try parts[3].octetString()
    }

    static let states = ["verified", "self-signed", "unverified", "failed"]
}

/// Which app asked for the key.
struct AttestedApplication: Sendable {
    let packages: [String]
    let digests: [[UInt8]]

    /// Reads the OCTET STRING that wraps the DER.
    init(_ element: DERElement) throws(DERError) {
        let parts = try DERElement(parsing: try element.octetString()).sequence()
        guard parts.count == 2 else { throw DERError(rule: .value, offset: 0) }
        var packages: [String] = []
        for package in try parts[0].set() {
            let members = try package.sequence()
            guard members.count == 2, let name = String(validating: try members[0].octetString(), as: UTF8.self) else {
                throw DERError(rule: .value, offset: package.offset)
            }
            _ = try members[1].integer()
            packages.append(name)
        }
        var digests: [[UInt8]] = []
        for digest in try parts[1].set() { digests.append(try digest.octetString()) }
        self.packages = packages
        self.digests = digests
    }
}
