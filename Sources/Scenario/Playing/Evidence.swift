import Encoding
import Engine

/// What a step did: the answer of the control API or of the management API.
struct Deed: Sendable {
    let status: Int
    let document: JSON
    var device: String?
    var flow: String?
}

/// What is known of a step once it is done.
struct Evidence: Sendable {
    struct Stored: Sendable {
        let session: JSON?
        let enrolments: Int
        let generation: Int64?
    }

    let deed: Deed
    /// What the journal says of the step: the parts `step` of its entries, and calls of an API behind them.
    let steps: [JSON]
    /// The same of the whole sign-in, earlier steps of the scenario included.
    let flow: [JSON]
    /// What the reference IdP noted; nil where another identity provider is played against, which tells nobody.
    let findings: [JSON]?
    /// The paths of the requests that left the phone.
    let paths: [String]
    var stored: Stored?

    /// The calls of a name, or all, in order.
    func calls(_ name: String? = nil) -> [JSON] { Self.calls(steps, name) }

    static func calls(_ steps: [JSON], _ name: String?) -> [JSON] {
        steps.filter { step in
            guard step["kind"]?.string == "call", let call = step["call"]?.string else { return false }
            return name == nil || call == name
        }
    }

    /// The calls of an API that a fetch made: the journal has none of them.
    static func apiCalls(_ document: JSON, _ steps: [JSON]) -> [JSON] {
        guard let attempts = document["attempts"]?.array, calls(steps, "api").isEmpty else { return [] }
        return attempts.enumerated().map { number, attempt in
            var members: [(String, JSON)] = [
                ("kind", "call"), ("call", "api"), ("attempt", .int(Int64(number + 1))),
                ("method", document["method"] ?? .null), ("url", document["url"] ?? .null),
                ("status", attempt["status"] ?? .null),
            ]
            if let repeated = attempt["repeated"] { members.append(("error", repeated)) }
            if let proof = attempt["proof"] {
                members.append(("proved", [["header": "DPoP", "by": "install key", "claims": proof]]))
            }
            return .object(members)
        }
    }

    /// The faults that took place, as the journal names them.
    var fired: [String] {
        steps.filter { $0["kind"]?.string == "fault" }.map {
            "\($0["fault"]?.string ?? "?"):\($0["call"]?.string ?? $0["at"]?.string ?? "?")"
        }
    }

    /// What was wrong on purpose and was accepted: `wrong-NAME:CALL`.
    ///
    /// The wrong request and what is sent besides follow the fault; a challenge for a nonce is no verdict on it, unless
    /// the nonce is what is wrong.
    var acceptedWrongs: [String] {
        steps.indices.compactMap { index in
            let fault = steps[index]
            guard fault["kind"]?.string == "fault", let name = fault["fault"]?.string, name.hasPrefix("wrong"),
                let call = fault["call"]?.string, !Self.isAllowed(name, at: call)
            else { return nil }
            let answers = steps[(index + 1)...].lazy.filter { $0["kind"]?.string == "call" }
                .prefix { $0["call"]?.string == call }
            let isRefused = answers.contains { Self.refuses($0, nonceCounts: name.contains("nonce")) }
            return isRefused || answers.isEmpty ? nil : "\(name):\(call)"
        }
    }

    /// Some of what looks wrong is allowed, and a good server accepts it.
    private static func isAllowed(_ fault: String, at call: String) -> Bool {
        guard let wrong = WrongOnPurpose(rawValue: String(fault.dropFirst("wrong-".count))),
            let place = WrongOnPurpose.Place(rawValue: call)
        else { return false }
        return wrong.expectation(at: place)?.verdict == .accepted
    }

    private static func refuses(_ call: JSON, nonceCounts: Bool) -> Bool {
        guard let status = call["status"]?.int else { return true }
        switch call["error"]?.string {
        // How a good start is answered.
        case "insufficient_authorization"?: return false
        case "use_dpop_nonce"?: return nonceCounts
        default: return status >= 400
        }
    }
}
