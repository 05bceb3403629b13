import Encoding

/// Explains a flow that is over or parked: what was called, which rule refused, and what it wanted.
///
/// A function of documents alone: the flow as the control API shows it, and what a reference IdP noted.
struct FlowTrace: Sendable {
    /// Clocks that are no further apart than this, in seconds, are not worth a word.
    static let quietSkew: Int64 = 5

    let flow: JSON
    /// What a reference IdP noted, by number.
    let findings: [Int64: JSON]

    /// The trace as the control API shows it.
    var document: JSON {
        var members: [(String, JSON)] = [
            ("flow", flow["id"] ?? .null), ("device", flow["device"] ?? .null), ("outcome", .string(outcome)),
            ("timeline", .array(steps.compactMap(entry))),
        ]
        if let refusal { members.append(("refusal", self.refusal(refusal))) }
        members.append(("explanation", .array(sentences.map { .string($0) })))
        return .object(members)
    }

    private var steps: [JSON] { flow["steps"]?.array ?? [] }

    private var outcome: String {
        switch flow["result"]?.string {
        case "signed_in"?: "signed in"
        case "failed"?: "failed: \(flow["reason"]?.string ?? "")"
        case "parked"?: "parked: \(flow["cause"]?.string ?? "")"
        default: "under way: \(flow["state"]?.string ?? "")"
        }
    }

    /// The call that ended the flow: the last that was refused or lost and not made good afterwards.
    private var refusal: JSON? {
        guard flow["result"]?.string != "signed_in" else { return nil }
        return steps.last { step in
            guard step["kind"]?.string == "call", step["call"]?.string.map(Self.isOfTheFlow) ?? false else {
                return false
            }
            if step["lost"] != nil { return true }
            guard let status = step["status"]?.int, status >= 400 else { return false }
            return step["error"]?.string != "insufficient_authorization"
        }
    }

    /// What is called behind the end, to clean up, explains nothing.
    private static func isOfTheFlow(_ call: String) -> Bool { call != "abort" && call != "revocation" }

    private func entry(_ step: JSON) -> JSON? {
        switch step["kind"]?.string {
        case "call"?:
            let names = ["n", "call", "attempt", "status", "error", "lost", "finding"]
            return .object(names.compactMap { name in step[name].map { (name, $0) } })
        case "fault"?, "scan"?: return step
        default: return nil
        }
    }

    private func refusal(_ call: JSON) -> JSON {
        let names = ["n", "call", "attempt", "url", "status", "error", "error_description", "lost"]
        var members = names.compactMap { name in call[name].map { (name, $0) } }
        if let finding = finding(of: call) {
            members += ["rule", "expected", "actual"].compactMap { name in finding[name].map { (name, $0) } }
        }
        if let proofs = call["proved"], proofs != .array([]) { members.append(("proved", proofs)) }
        if let skew = skew(of: call) {
            members.append(
                (
                    "skew",
                    [
                        "device_time": call["device_time"] ?? .null, "server_time": call["server_time"] ?? .null,
                        "seconds": .int(skew),
                    ]
                ))
        }
        return .object(members)
    }

    private func finding(of call: JSON) -> JSON? { call["finding"]?.int.flatMap { findings[$0] } }

    /// How far the phone's clock is ahead of the server's.
    private func skew(of call: JSON) -> Int64? {
        guard let device = call["device_time"]?.int, let server = call["server_time"]?.int else { return nil }
        return device - server
    }
}

/// The same in sentences.
extension FlowTrace {
    private var sentences: [String] {
        var sentences: [String] = []
        if let message = flow["message"]?.string { sentences.append(message) }
        for fault in steps where fault["kind"]?.string == "fault" {
            sentences.append("a fault as asked: \(fault["fault"]?.string ?? "") at \(fault["call"]?.string ?? "")")
        }
        guard let refusal else { return sentences + [noRefusal] }
        sentences.append(told(refusal))
        if let finding = finding(of: refusal) {
            sentences.append(
                "the rule \(finding["rule"]?.string ?? "") wanted \(finding["expected"]?.string ?? ""), "
                    + "and found \(finding["actual"]?.string ?? "")")
        }
        if let skew = skew(of: refusal), abs(skew) > Self.quietSkew { sentences.append(told(skew, refusal)) }
        return sentences
    }

    private var noRefusal: String {
        flow["result"]?.string == "signed_in"
            ? "no call was refused for good" : "no call was refused: the phone decided it"
    }

    private func told(_ call: JSON) -> String {
        let name = "\(call["call"]?.string ?? "") call \(call["attempt"]?.int ?? 1)"
        if let lost = call["lost"]?.string { return "\(name) was lost: \(lost)" }
        let description = call["error_description"]?.string.map { " (\($0))" } ?? ""
        return
            "\(name) was answered \(call["status"]?.int ?? 0) \(call["error"]?.string ?? "without an error code")\(description)"
    }

    private func told(_ skew: Int64, _ call: JSON) -> String {
        let direction = skew > 0 ? "ahead of" : "behind"
        let rule = finding(of: call)?["rule"]?.string ?? ""
        let isCause = rule.contains(".iat")
        let window = finding(of: call)?["expected"]?.string ?? ""
        let verdict = isCause ? "; that is what was refused: the server takes \(window)" : ""
        return "the phone's clock is \(abs(skew)) s \(direction) the server's "
            + "(\(call["device_time"]?.int ?? 0) against \(call["server_time"]?.int ?? 0))\(verdict)"
    }
}
