import Encoding

/// Compares what a step was expected to do with what it did.
struct Verdict: Sendable {
    let step: Scenario.Step
    let evidence: Evidence

    private var document: JSON { evidence.deed.document }

    /// Throws the first disappointment.
    func check() throws(Disappointment) {
        for member in step.expect?.members ?? [] { try check(member) }
        let outcomes = ["result", "status", "error", "state", "reason", "cause"]
        if outcomes.allSatisfy({ step.expect?[$0] == nil }) { try wentWell() }
        try everyFaultTookPlace()
        try wrongsWereRefused()
    }

    private func check(_ member: JSON5Value.Member) throws(Disappointment) {
        let value = member.value
        switch member.name {
        case "result", "state", "reason", "cause": try equal(member.name, value, document[member.name])
        case "message": try contains(value, document["message"] ?? document["detail"])
        case "status": try equal("status", value, .int(document["status"]?.int ?? Int64(evidence.deed.status)))
        case "error": try equal("error", value, document["code"] ?? document["error"])
        case "calls": try calls(value)
        case "answers": try sequences(value, "answers") { $0["status"] ?? .null }
        case "errors": try sequences(value, "errors") { $0["error"] ?? .null }
        case "requests": try requests(value)
        case "scans": try equal("scans", value, .int(Int64(evidence.steps.count { $0["kind"]?.string == "scan" })))
        case "faults":
            try require(value.json == .array(evidence.fired.map(JSON.string)), "faults", value, "\(evidence.fired)")
        case "findings": try findings(value)
        case "journal": try journal(value)
        case "same_proof": try sameProof(value)
        case "stored": try stored(value)
        case "body": try holds(value, document, "body")
        default: break
        }
    }
}

/// What holds without being said.
extension Verdict {
    /// A step that says nothing of its outcome must go well.
    private func wentWell() throws(Disappointment) {
        let result = document["result"]?.string
        guard result == "failed" || result == "parked" || !(200..<300).contains(evidence.deed.status) else { return }
        throw disappointment("the outcome", "good", outcome, step.place)
    }

    /// A fault that never took place would let a scenario pass that shows nothing.
    private func everyFaultTookPlace() throws(Disappointment) {
        guard step.expect?["faults"] == nil, let planned = step.order["faults"]?.array else { return }
        guard evidence.fired.count < planned.count else { return }
        throw disappointment(
            "faults that took place", "\(planned.count), as so many are planned", "\(evidence.fired)", step.place)
    }

    /// What is wrong on purpose must be refused, unless the file says that it is accepted.
    private func wrongsWereRefused() throws(Disappointment) {
        var accepted = evidence.acceptedWrongs
        let defects = ["attestation_defect", "client_attestation_defect"].compactMap { step.order[$0]?.string }
        let isLetIn = document["result"]?.string == "signed_in" || evidence.deed.status == 201 && step.verb == "enrol"
        if isLetIn { accepted += defects.filter { $0 != "none" } }
        let mayBeAccepted = step.expect?["accepted"]?.bool ?? false
        if !mayBeAccepted, !accepted.isEmpty {
            throw disappointment(
                "what is wrong on purpose", "refused", "accepted by the server: \(accepted.joined(separator: ", "))",
                step.place)
        }
        if mayBeAccepted, accepted.isEmpty {
            throw disappointment(
                "what is wrong on purpose", "accepted, as the file says", "refused (\(outcome))",
                step.expect?["accepted"]?.place ?? step.place)
        }
    }
}

/// Single expectations.
extension Verdict {
    private func calls(_ value: JSON5Value) throws(Disappointment) {
        var counted: [String: Int64] = [:]
        for call in evidence.calls() { counted[call["call"]?.string ?? "", default: 0] += 1 }
        for member in value.members ?? [] {
            try equal("calls.\(member.name)", member.value, .int(counted[member.name] ?? 0))
            counted[member.name] = nil
        }
        counted["discovery"] = nil
        guard let (name, number) = counted.min(by: { $0.key < $1.key }) else { return }
        throw disappointment("calls.\(name)", "0, as it is not listed", "\(number)", value.place)
    }

    private func requests(_ value: JSON5Value) throws(Disappointment) {
        for member in value.members ?? [] {
            let count = evidence.paths.count { $0.hasSuffix(member.name) }
            try equal("requests.\(member.name)", member.value, .int(Int64(count)))
        }
    }

    private func sequences(
        _ value: JSON5Value, _ what: String, _ part: (JSON) -> JSON
    ) throws(Disappointment) {
        for member in value.members ?? [] {
            let got = JSON.array(evidence.calls(member.name).map(part))
            try require(member.value.json == got, "\(what).\(member.name)", member.value, got.text)
        }
    }

    private func findings(_ value: JSON5Value) throws(Disappointment) {
        guard let findings = evidence.findings else { return }
        let rules = findings.map { $0["rule"]?.string ?? "?" }
        let wanted = value.elements ?? []
        if wanted.isEmpty, !rules.isEmpty { throw disappointment("findings", "none", "\(rules)", value.place) }
        var rest = findings[...]
        for finding in wanted {
            let index = rest.firstIndex { found in
                if let rule = finding.string { return found["rule"]?.string == rule }
                return (finding.members ?? []).allSatisfy { found[$0.name] == $0.value.json }
            }
            guard let index else {
                let shown = finding.string == nil ? JSON.array(findings).text : "\(rules)"
                throw disappointment("findings", finding.json.text, shown, finding.place)
            }
            rest = rest[(index + 1)...]
        }
    }

    private func journal(_ value: JSON5Value) throws(Disappointment) {
        var rest = evidence.steps[...]
        for wanted in value.elements ?? [] {
            guard let index = rest.firstIndex(where: { Self.matches(wanted, $0) }) else {
                let left = rest.map { entry in
                    ["kind", "call", "status", "state", "outcome", "event", "fault"].compactMap {
                        entry[$0].map { $0.string ?? $0.text }
                    }.joined(separator: " ")
                }
                throw disappointment("journal", wanted.json.text, left.joined(separator: "; "), wanted.place)
            }
            rest = rest[(index + 1)...]
        }
    }

    /// Whether a document has every member that is wanted, and lists as long as those.
    private static func matches(_ wanted: JSON5Value, _ document: JSON?) -> Bool {
        if let members = wanted.members { return members.allSatisfy { matches($0.value, document?[$0.name]) } }
        guard let elements = wanted.elements else { return wanted.json == document ?? .null }
        guard let got = document?.array, got.count == elements.count else { return false }
        return zip(elements, got).allSatisfy { matches($0, $1) }
    }

    private func sameProof(_ value: JSON5Value) throws(Disappointment) {
        let proofs = Evidence.calls(evidence.flow, "completion").compactMap { call in
            call["proved"]?.array?.first { $0["body"] != nil }?["claims"]
        }
        try equal("same_proof", value, .bool(Set(proofs).count == 1 && proofs.count > 1))
    }

    private func stored(_ value: JSON5Value) throws(Disappointment) {
        guard let stored = evidence.stored else {
            throw disappointment("stored", value.json.text, "unknown: the step is about no phone", value.place)
        }
        for member in value.members ?? [] where member.name != "generation" || evidence.findings != nil {
            let got: JSON =
                switch member.name {
                case "session": .bool(stored.session != nil)
                case "can_refresh": stored.session?["has_refresh_token"] ?? .bool(false)
                case "enrolments": .int(Int64(stored.enrolments))
                default: stored.generation.map(JSON.int) ?? .null
                }
            try equal("stored.\(member.name)", member.value, got)
        }
    }

    private func holds(_ value: JSON5Value, _ document: JSON?, _ path: String) throws(Disappointment) {
        if let members = value.members {
            for member in members { try holds(member.value, document?[member.name], "\(path).\(member.name)") }
        } else {
            try require(Self.matches(value, document), path, value, (document ?? .null).text)
        }
    }

    private func contains(_ value: JSON5Value, _ got: JSON?) throws(Disappointment) {
        guard let wanted = value.string, !(got?.string?.contains(wanted) ?? false) else { return }
        throw disappointment("message", "a text with '\(wanted)'", got?.text ?? "nothing", value.place)
    }
}

/// Saying what is wrong.
extension Verdict {
    private var outcome: String {
        let parts = ["result", "reason", "cause", "code", "error", "message", "detail"].compactMap {
            document[$0]?.string
        }
        return parts.isEmpty ? "\(evidence.deed.status)" : parts.joined(separator: ": ")
    }

    private func equal(_ what: String, _ value: JSON5Value, _ got: JSON?) throws(Disappointment) {
        // For a failed outcome, what the flow said of itself.
        let isAboutOutcome = ["result", "state", "reason", "status", "error", "cause"].contains(what)
        try require(
            value.json == got ?? .null, what, value, (got ?? .null).text + (isAboutOutcome ? " (\(outcome))" : ""))
    }

    private func require(
        _ holds: Bool, _ what: String, _ value: JSON5Value, _ got: @autoclosure () -> String
    ) throws(Disappointment) {
        if !holds { throw disappointment(what, value.json.text, got(), value.place) }
    }

    private func disappointment(
        _ what: String, _ expected: String, _ got: String, _ place: TextPlace
    ) -> Disappointment {
        Disappointment(
            place: place, number: step.number, step: step.title, what: what, expected: expected,
            got: String(got.prefix(2000)))
    }
}
