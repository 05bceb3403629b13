public import Crypto
public import Encoding

/// What a face token holds: the enrolled template's name and the seeds of Face PKI keys.
public struct FaceTokenContents: Codable, Sendable, Hashable {
    /// The length of `templateID`, in bytes.
    public static let templateIDLength = 16

    /// Names the enrolled template; the same through every rotation.
    public let templateID: [UInt8]
    /// When the face was enrolled, on the device's clock.
    public let createdAt: Instant
    /// Seeds of Face PKI keys by the name of their class, 32 bytes or more each; empty until a tenant with Face PKI.
    public var seeds: [String: [UInt8]]

    /// Takes the parts of a template whose name has `templateIDLength` bytes.
    public init(templateID: [UInt8], createdAt: Instant, seeds: [String: [UInt8]] = [:]) {
        precondition(templateID.count == Self.templateIDLength)
        self.templateID = templateID
        self.createdAt = createdAt
        self.seeds = seeds
    }

    /// Draws a new template's name, for an enrolment.
    public static func drawn(from entropy: Entropy, at now: Instant) -> FaceTokenContents {
        FaceTokenContents(templateID: entropy.bytes(templateIDLength), createdAt: now)
    }
}

extension FaceTokenContents: CustomStringConvertible, CustomReflectable {
    /// How many seeds there are; never one of them.
    public var description: String { "face token contents with \(seeds.count) seeds" }

    /// Hides the contents from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension FaceTokenContents {
    /// The bytes that are sealed: compact JSON, seeds in the order of their names.
    var serialized: [UInt8] {
        let seeds = seeds.sorted { $0.key < $1.key }.map { ($0.key, JSON.string(Base64URL.encode($0.value))) }
        let json = JSON.object([
            ("template", .string(Base64URL.encode(templateID))),
            ("created_at", .int(createdAt.milliseconds)),
            ("seeds", .object(seeds)),
        ])
        return json.serialized()
    }

    /// Reads sealed bytes back, or gives `nil` when they are something else.
    init?(serialized: [UInt8]) {
        guard let json = try? JSON(parsing: serialized),
            let template = Self.bytes(json["template"]), template.count == Self.templateIDLength,
            let createdAt = json["created_at"]?.int,
            let members = json["seeds"]?.object?.members
        else { return nil }
        var seeds: [String: [UInt8]] = [:]
        for member in members {
            guard let seed = Self.bytes(member.value) else { return nil }
            seeds[member.name] = seed
        }
        self.init(templateID: template, createdAt: Instant(milliseconds: createdAt), seeds: seeds)
    }

    private static func bytes(_ json: JSON?) -> [UInt8]? {
        json?.string.flatMap { try? Base64URL.decode($0) }
    }
}
