public import Encoding

/// A reference IdP that listens in this process.
public struct ServedIdP: Sendable, Hashable {
    /// The system it speaks, such as `sensecrypt`.
    public let system: String
    /// Where its issuers are: scheme, host and port.
    public let origin: String
    /// Where its resource API is: scheme, host and port.
    public let api: String
    /// Its issuers.
    public let issuers: [String]

    /// Describes a listening IdP.
    public init(system: String, origin: String, api: String, issuers: [String]) {
        self.system = system
        self.origin = origin
        self.api = api
        self.issuers = issuers
    }

    /// Where its management API is.
    public var management: String { origin + "/manage" }

    /// The IdP as the control API and the ready file show it.
    public var json: JSON {
        [
            "system": .string(system), "origin": .string(origin), "api": .string(api),
            "management": .string(management), "issuers": .array(issuers.map { .string($0) }),
        ]
    }
}
