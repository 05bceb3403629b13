public import SignIn

/// A failure the phone's user asked for at one of the calls of a flow.
public struct PlannedFault: Sendable, Hashable, Codable {
    /// What happens instead of the exchange.
    public enum Kind: Sendable, Hashable, Codable {
        /// The request is never sent.
        case drop
        /// The request is sent and acted upon; its answer is thrown away.
        case loseReply
        /// The request is never sent and this status comes back.
        case status(Int)
        /// The request is sent with this in it, and its answer counts.
        case wrong(WrongOnPurpose)
    }

    /// What happens.
    public let kind: Kind
    /// The call it happens to.
    public let call: Call.Purpose
    /// How many exchanges it happens to, beginning with the next.
    public var times: Int

    /// Reads a fault at a call of a sign-in.
    ///
    /// Throws `.invalid` naming the part that is wrong and what is allowed there.
    public init(text: String) throws(EngineError) { try self.init(text: text, among: Call.Purpose.ofSignIn) }

    /// Reads `KIND:CALL` or `KIND:CALL:TIMES`, such as `lose-reply:token` or `status-503:completion:2`, for one of the
    /// calls given.
    ///
    /// Throws `.invalid` naming the part that is wrong and what is allowed there.
    public init(text: String, among calls: [Call.Purpose]) throws(EngineError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count) else {
            throw .invalid(field: "faults", rule: "a fault is KIND:CALL or KIND:CALL:TIMES", value: text)
        }
        kind = try Self.kind(parts[0], at: parts[1])
        guard let call = Call.Purpose(rawValue: parts[1]), calls.contains(call) else {
            let known = calls.map(\.rawValue).joined(separator: ", ")
            throw .invalid(field: "faults", rule: "the call is one of \(known)", value: parts[1])
        }
        self.call = call
        guard let times = Int(parts.count == 3 ? parts[2] : "1"), (1...100).contains(times) else {
            throw .invalid(field: "faults", rule: "TIMES is 1 to 100", value: parts[2])
        }
        self.times = times
    }

    private static func kind(_ word: String, at call: String) throws(EngineError) -> Kind {
        if word.hasPrefix("wrong-") { return .wrong(try .checked(String(word.dropFirst(6)), at: call)) }
        switch word {
        case "drop": return .drop
        case "lose-reply": return .loseReply
        default:
            guard word.hasPrefix("status-"), let status = Int(word.dropFirst(7)), (400...599).contains(status) else {
                throw .invalid(
                    field: "faults", rule: "KIND is drop, lose-reply, status-400 to status-599 or wrong-NAME",
                    value: word)
            }
            return .status(status)
        }
    }

    /// The name the journal shows.
    var name: String {
        switch kind {
        case .drop: "drop"
        case .loseReply: "lose-reply"
        case .status(let status): "status-\(status)"
        case .wrong(let wrong): "wrong-\(wrong.rawValue)"
        }
    }
}

/// The faults a flow still has ahead of it: counted, never dice.
struct FaultPlan: Sendable, Hashable, Codable {
    private var faults: [PlannedFault]

    init(_ faults: [PlannedFault] = []) { self.faults = faults }

    /// Takes the next fault planned for a call, if there is one.
    mutating func take(for call: Call.Purpose) -> PlannedFault? {
        guard let index = faults.firstIndex(where: { $0.call == call }) else { return nil }
        let fault = faults[index]
        faults[index].times -= 1
        if faults[index].times == 0 { faults.remove(at: index) }
        return fault
    }
}
