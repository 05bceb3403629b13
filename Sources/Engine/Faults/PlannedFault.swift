public import Encoding

/// A failure somebody asked for: where, what, and how often.
public struct PlannedFault: Sendable, Hashable, Codable {
    /// What happens.
    public enum Kind: Sendable, Hashable, Codable {
        /// The request is never sent.
        case drop
        /// The request is sent and acted upon; its answer is thrown away.
        case loseReply
        /// The request is never sent and this answer comes back.
        case answer(PlannedAnswer)
        /// The request is sent, and the connection is reset before an answer is read.
        case reset
        /// Half of the request is sent, and the connection is closed.
        case truncate
        /// The request is sent in pieces of so many bytes, with so many milliseconds between them.
        case dribble(bytes: Int, milliseconds: Int)
        /// The request is sent after so many milliseconds of the world's clock.
        case delay(milliseconds: Int)
        /// The proof has a nonce the server did not give lately.
        case staleNonce
        /// The proof has no nonce, whatever the server gave.
        case missingNonce
        /// The storage takes nothing.
        case storeFull
        /// The key refuses to sign.
        case keyRefused
        /// The process ends here, and is started anew at once where `relaunch` says so.
        case crash(relaunch: Bool)
        /// The request is sent with this in it, and its answer counts.
        case wrong(WrongOnPurpose)
    }

    /// Where it happens; a member that is nil is about everything.
    public struct Place: Sendable, Hashable, Codable {
        /// The system of the flow, such as `sensecrypt`.
        public var system: String?
        /// The call, or what the phone does.
        public var point: FaultPoint?
        /// The number of the attempt, beginning with 1.
        public var attempt: Int?
        /// The device.
        public var device: String?
        /// The thumbprint of an install's key.
        public var install: String?

        /// About everything, or one call or deed.
        public init(point: FaultPoint? = nil) { self.point = point }
    }

    /// The name it goes by.
    public internal(set) var id: String
    /// Where it happens.
    public let place: Place
    /// What happens.
    public let kind: Kind
    /// How often it happens yet; nil for a fault of chance.
    public internal(set) var times: Int?
    /// How likely it is to happen each time, 0 to 1; nil for a counted fault.
    public let probability: Double?
    /// How often it has happened.
    public internal(set) var fired = 0

    /// Plans a fault; without a probability it is counted.
    public init(id: String, kind: Kind, at place: Place, times: Int = 1, probability: Double? = nil) {
        self.id = id
        self.kind = kind
        self.place = place
        self.times = probability == nil ? times : nil
        self.probability = probability
    }

    /// The name the journal shows.
    public var name: String { kind.name }
}

/// An answer that comes back although nothing was sent.
public struct PlannedAnswer: Sendable, Hashable, Codable {
    /// The status, 200 to 599.
    public var status: Int
    /// The body; JSON where it begins as an object does.
    public var body: String?
    /// The `Retry-After` field, in seconds.
    public var retryAfter: Int?
    /// Further fields, name and value in turn.
    public var headers: [[String]] = []

    /// Plans an answer.
    public init(status: Int, body: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

extension PlannedFault.Kind {
    /// The word a script uses.
    public var name: String {
        switch self {
        case .drop: "drop"
        case .loseReply: "lose-reply"
        case .answer(let answer): "status-\(answer.status)"
        case .reset: "reset"
        case .truncate: "truncate"
        case .dribble: "dribble"
        case .delay(let milliseconds): "delay-\(milliseconds)"
        case .staleNonce: "stale-nonce"
        case .missingNonce: "missing-nonce"
        case .storeFull: "store-full"
        case .keyRefused: "key-refused"
        case .crash(let relaunch): relaunch ? "crash-relaunch" : "crash"
        case .wrong(let wrong): "wrong-\(wrong.rawValue)"
        }
    }

    /// The words a script can use, where no number or name belongs to them.
    static let words = [
        "drop", "lose-reply", "reset", "truncate", "dribble", "stale-nonce", "missing-nonce", "store-full",
        "key-refused", "crash", "crash-relaunch",
    ]

    /// Why it cannot happen at a place, or nil where it can.
    func objection(at point: FaultPoint) -> String? {
        switch self {
        case .crash: nil
        case .storeFull: point == .deed(.commit) ? nil : "only a commit stores a session"
        case .keyRefused:
            point.carriesProof || point == .deed(.sign) || point == .deed(.pki) ? nil : "no key signs there"
        case .staleNonce, .missingNonce: point.carriesProof ? nil : "nothing there carries a DPoP proof"
        default: point.isNetwork ? nil : "nothing crosses the network there"
        }
    }
}

extension PlannedFault.Kind {
    /// What happens, in the form that can be read again.
    var json: JSON {
        switch self {
        case .answer(let answer):
            var members: [(String, JSON)] = [("status", .int(Int64(answer.status)))]
            if let body = answer.body { members.append(("body", .string(body))) }
            if let seconds = answer.retryAfter { members.append(("retry_after", .int(Int64(seconds)))) }
            if !answer.headers.isEmpty {
                members.append(("headers", .array(answer.headers.map { .array($0.map { .string($0) }) })))
            }
            return .object(members)
        case .dribble(let bytes, let milliseconds):
            return ["dribble": .int(Int64(bytes)), "pause": .int(Int64(milliseconds))]
        default: return .string(name)
        }
    }
}

extension PlannedFault {
    /// The fault as the control API shows it.
    public var json: JSON {
        var on = JSONObject()
        on["system"] = place.system.map(JSON.string)
        on["call"] = place.point.map { .string($0.name) }
        on["attempt"] = place.attempt.map { .int(Int64($0)) }
        on["device"] = place.device.map(JSON.string)
        on["install"] = place.install.map(JSON.string)
        var members: [(String, JSON)] = [("id", .string(id)), ("on", .object(on)), ("do", kind.json)]
        if let times { members.append(("times", .int(Int64(times)))) }
        if let probability { members.append(("probability", .double(probability))) }
        return .object(members + [("fired", .int(Int64(fired)))])
    }
}
